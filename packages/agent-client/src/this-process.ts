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
  folder: findFolder(),
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

/** An agent may have removed the folder that it was started in, and a hook fails no agent for that. */
function findFolder(): string {
  try {
    return process.cwd()
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
    // A hook's news says itself where the agent is, and prints nothing that could be misread.
    if (!process.argv.includes('hook'))
      process.stderr.write('turnback: the folder that this was started in is gone, so / stands for it.\n')
    return '/'
  }
}
