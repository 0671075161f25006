import { readdirSync } from 'node:fs'
import { readName, writeName } from '@turnback/core'

/** A path as file calls take it: text where every name is UTF-8, else bytes. */
export type DiskPath = string | Buffer

const SLASH = Buffer.from('/')

/** @param name in written form */
export function joinName(folder: DiskPath, name: string): DiskPath {
  if (typeof folder === 'string' && !name.startsWith('b64:')) return `${folder}/${name}`
  const bytes = readName(name)
  if (bytes === null) throw new Error(`invariant: ${name} is a written name`)
  return Buffer.concat([typeof folder === 'string' ? Buffer.from(folder) : folder, SLASH, bytes])
}

/** Names in a directory, in written form. Read as bytes only where text would lose some. */
export function listNames(folder: DiskPath): string[] {
  const names = readdirSync(folder)
  if (!names.some((name) => name.includes('\ufffd') || name.startsWith('b64:'))) return names
  return readdirSync(folder, { encoding: 'buffer' }).map((name) => writeName(name))
}

export function joinPath(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`
}
