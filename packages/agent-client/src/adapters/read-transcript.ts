import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import type { TranscriptFacts, Transcripts } from '#agent-ports.ts'
import { findReader } from './transcripts.ts'

const HEAD_BYTES = 16 * 1024
const TAIL_BYTES = 128 * 1024
/** As many as there may be agents at work at once, and more. */
const KEPT = 100

interface Read {
  readonly stamp: string
  readonly facts: TranscriptFacts
}

/** Reads the beginning and the end of transcripts, again only when they have changed. */
export function createTranscripts(): Transcripts {
  const kept = new Map<string, Read>()
  return {
    find(agent, path) {
      const read = findReader(agent)
      if (read === null) return null
      try {
        // Not to wait for ever at something that is no file.
        const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
        try {
          const stat = fstatSync(fd)
          if (!stat.isFile()) return null
          const stamp = `${stat.ino} ${stat.size} ${stat.mtimeMs}`
          const before = kept.get(path)
          if (before?.stamp === stamp) return before.facts
          const head = readPart(fd, 0, Math.min(HEAD_BYTES, stat.size))
          const from = Math.max(0, stat.size - TAIL_BYTES)
          const facts = read(head, readPart(fd, from, stat.size - from))
          if (kept.size >= KEPT) kept.clear()
          kept.set(path, { stamp, facts })
          return facts
        } finally {
          closeSync(fd)
        }
      } catch (error) {
        // Gone, not made yet, not readable: then it tells nothing.
        if (error instanceof Error && 'code' in error) return null
        throw error
      }
    },
  }
}

function readPart(fd: number, from: number, length: number): string {
  const bytes = Buffer.alloc(length)
  let at = 0
  while (at < length) {
    const got = readSync(fd, bytes, at, length - at, from + at)
    if (got === 0) break
    at += got
  }
  return bytes.toString('utf8', 0, at)
}
