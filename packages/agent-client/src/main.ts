import { EXIT } from '#cli/exit-code.ts'
import { runCommandLine } from '#cli/run.ts'

process.on('SIGINT', () => process.exit(EXIT.interrupted))
// A reader that had enough (`turnback log | head`) is no fault.
process.stdout.on('error', (error) => {
  if (!('code' in error && error.code === 'EPIPE')) throw error
})

process.exitCode = await runCommandLine(process.argv.slice(2), process.env, process.cwd(), {
  out: (text) => {
    process.stdout.write(text)
  },
  talk: (text) => {
    process.stderr.write(text)
  },
  async readStdin() {
    const pieces: Buffer[] = []
    for await (const piece of process.stdin) pieces.push(Buffer.from(piece))
    return Buffer.concat(pieces).toString('utf8')
  },
})
