import { randomBytes } from 'node:crypto'
import { closeSync, openSync, readSync, unlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A file that is gone when no process has it open. */
export interface UnnamedFile {
  readonly fd: number
  /** Its first bytes. */
  read(bytes: number): Buffer
  close(): void
}

export function openUnnamedFile(): UnnamedFile {
  const path = join(tmpdir(), `turnback-${randomBytes(12).toString('hex')}`)
  const fd = openSync(path, 'wx+', 0o600)
  unlinkSync(path)
  return {
    fd,
    read(bytes) {
      const buffer = Buffer.alloc(bytes)
      return buffer.subarray(0, readSync(fd, buffer, 0, bytes, 0))
    },
    close: () => closeSync(fd),
  }
}
