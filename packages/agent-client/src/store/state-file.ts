import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { z } from 'zod'

/** Small JSON files of ours: readable by their owner only, replaced whole or not at all. */
export function writeStateFile(file: string, value: unknown): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const temporary = join(dirname(file), `.${basename(file)}.${process.pid}.tmp`)
  const fd = openSync(temporary, 'w', 0o600)
  try {
    writeSync(fd, `${JSON.stringify(value, null, 2)}\n`)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
  // An earlier file's mode is not taken over: it may have been widened by hand.
  chmodSync(temporary, 0o600)
  renameSync(temporary, file)
}

export type StateFile<T> =
  | { readonly kind: 'there'; readonly value: T }
  | { readonly kind: 'absent' }
  /** There, and not what we wrote. */
  | { readonly kind: 'damaged' }

export function readStateFile<S extends z.ZodType>(file: string, schema: S): StateFile<z.output<S>> {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return { kind: 'absent' }
    throw error
  }
  const parsed = schema.safeParse(readJson(text))
  return parsed.success ? { kind: 'there', value: parsed.data } : { kind: 'damaged' }
}

export function deleteStateFile(file: string): void {
  rmSync(file, { force: true })
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
