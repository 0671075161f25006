import { randomUUID } from 'node:crypto'
import { access, constants, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DomainError } from '@turnback/core'
import type { ObjectStore, ObjectWriter } from './object-store.ts'

const KEY = /^[a-z]+\/[a-z0-9_]+(\/[a-z0-9_]+)*$/
/** A writing that is older than this was cut off with its process. */
const ABANDONED_MS = 24 * 3600 * 1000

/** Objects as files: written beside their place, synced, renamed. */
export async function openFsObjectStore(folder: string): Promise<ObjectStore> {
  const temporary = join(folder, 'unfinished')
  await mkdir(temporary, { recursive: true, mode: 0o700 })
  await removeAbandoned(temporary)
  return {
    beginWrite: () => beginWrite(folder, join(temporary, randomUUID())),
    read: (key, offsetBytes, lengthBytes) => read(placeOf(folder, key), offsetBytes, lengthBytes),
    check: () => storage(() => access(temporary, constants.W_OK)),
  }
}

async function beginWrite(folder: string, path: string): Promise<ObjectWriter> {
  const file = await storage(() => open(path, 'wx', 0o600))
  let isOpen = true
  const close = async () => {
    if (isOpen) await file.close()
    isOpen = false
  }
  return {
    write: (chunk) => storage(() => writeAll(file, chunk)),
    commit: (key) =>
      storage(async () => {
        const place = placeOf(folder, key)
        await file.sync()
        await close()
        await mkdir(dirname(place), { recursive: true, mode: 0o700 })
        await rename(path, place)
        await syncFolder(dirname(place))
        await syncFolder(dirname(dirname(place)))
      }),
    async abort() {
      await close()
      await rm(path, { force: true })
    },
  }
}

async function writeAll(
  file: { write(bytes: Uint8Array): Promise<{ bytesWritten: number }> },
  chunk: Uint8Array,
) {
  for (let at = 0; at < chunk.length; ) at += (await file.write(chunk.subarray(at))).bytesWritten
}

async function read(place: string, offsetBytes: number, lengthBytes: number): Promise<Uint8Array> {
  const file = await open(place, 'r').catch((error: unknown) => {
    if (isErrno(error, 'ENOENT')) return null
    throw new DomainError('STORAGE_UNAVAILABLE', {}, { cause: error })
  })
  if (file === null) throw new DomainError('BLOB_NOT_FOUND')
  try {
    const bytes = Buffer.alloc(lengthBytes)
    for (let at = 0; at < lengthBytes; ) {
      const { bytesRead } = await storage(() => file.read(bytes, at, lengthBytes - at, offsetBytes + at))
      if (bytesRead === 0) throw new DomainError('BLOB_NOT_FOUND')
      at += bytesRead
    }
    return bytes
  } finally {
    await file.close()
  }
}

function placeOf(folder: string, key: string): string {
  if (!KEY.test(key)) throw new Error(`not an object key: ${key}`)
  return join(folder, key)
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

async function removeAbandoned(temporary: string): Promise<void> {
  for (const name of await readdir(temporary)) {
    const path = join(temporary, name)
    if (Date.now() - (await stat(path)).mtimeMs > ABANDONED_MS) await rm(path, { force: true })
  }
}

/** Trouble of the disk (full, gone, read-only) is the operator's, and says so. */
async function storage<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof DomainError) throw error
    throw new DomainError('STORAGE_UNAVAILABLE', {}, { cause: error })
  }
}

function isErrno(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
