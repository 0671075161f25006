import { byteString, bytesOf, diffHunks } from '@turnback/core'
import type { Change } from './change-settings.ts'

const NOTHING = new Uint8Array(0)

/** What the change does, as a unified diff; '' when it does nothing. */
export function diffSettings({ now, after }: Change): string {
  const hunks = diffHunks(now.bytes ?? NOTHING, after ?? NOTHING)
  if (hunks.length === 0) return ''
  const name = byteString(Buffer.from(now.real))
  const heads = [
    `--- ${now.bytes === null ? '/dev/null' : name}\n`,
    `+++ ${after === null ? '/dev/null' : name}\n`,
  ]
  return Buffer.from(bytesOf([...heads, ...hunks.map(({ text }) => text)].join(''))).toString('utf8')
}
