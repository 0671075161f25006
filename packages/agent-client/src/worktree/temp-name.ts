import type { RestoreId } from '@turnback/core'

/**
 * Names that a restore gives to files for a moment, beside the place they belong to: `new` for bytes on their
 * way in, `old` for a file on its way out. A scan passes over them, and no step may name one.
 */
const TEMP_NAME = /^\.turnback-(new|old)-([0-9a-z]{16})-([0-9]{1,7})-([0-9a-f]{8})$/

export interface TempName {
  readonly role: 'new' | 'old'
  readonly tag: string
  readonly index: number
}

export function parseTempName(name: string): TempName | null {
  const [, role, tag, index] = TEMP_NAME.exec(name) ?? []
  if (tag === undefined || (role !== 'new' && role !== 'old')) return null
  return { role, tag, index: Number(index) }
}

/** The random end of a restore's id: tells its temporary files from another run's. */
export function tagOf(restore: RestoreId): string {
  return restore.slice(-16)
}

/** The name for what a file of this temporary name takes the place of. */
export function asideOf(temp: string): string {
  return temp.replace(/^\.turnback-new-/, '.turnback-old-')
}

export function writeTempName(
  role: TempName['role'],
  tag: string,
  index: number,
  random: Uint8Array,
): string {
  const end = Buffer.from(random.subarray(0, 4)).toString('hex')
  return `.turnback-${role}-${tag}-${index}-${end}`
}
