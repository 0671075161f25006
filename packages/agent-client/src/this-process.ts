import { isatty } from 'node:tty'
import type { Caller, Streams } from '#cli/context.ts'
import { EXIT } from '#cli/exit-code.ts'

process.on('SIGINT', () => process.exit(EXIT.interrupted))
// A reader that had enough (`turnback log | head`) is no fault.
process.stdout.on('error', (error) => {
  if (!('code' in error && error.code === 'EPIPE')) throw error
})

/** Who runs this process. */
export const caller: Caller = {
  env: process.env,
  folder: process.cwd(),
  pid: process.ppid,
  // Asked when it matters: to know it takes a part of Node that takes time to load.
  get isPerson() {
    return isatty(2)
  },
}

/** This process's own. */
export const streams: Streams = {
  out: (text) => {
    process.stdout.write(text)
  },
  talk: (text) => {
    process.stderr.write(text)
  },
  async readStdin(limitMs) {
    const pieces: Buffer[] = []
    const timer = limitMs === undefined ? null : setTimeout(() => process.stdin.destroy(), limitMs)
    try {
      for await (const piece of process.stdin) pieces.push(Buffer.from(piece))
    } catch (error) {
      if (!process.stdin.destroyed) throw error
    } finally {
      if (timer !== null) clearTimeout(timer)
    }
    return Buffer.concat(pieces).toString('utf8')
  },
}
