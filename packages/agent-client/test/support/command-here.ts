import { runCommandLine } from '#cli/run.ts'
import type { ClientDeps } from '#deps.ts'

/** Runs the command line in this process: the same but for the time that a process of its own takes. */
export async function runHere(
  env: Readonly<Record<string, string>>,
  folder: string,
  args: readonly string[],
  opened: ClientDeps | null = null,
): Promise<{ readonly code: number; readonly json: Record<string, unknown> }> {
  let out = ''
  const streams = {
    out(text: string | Uint8Array) {
      out += Buffer.from(text).toString('utf8')
    },
    talk() {},
    readStdin: async () => '',
  }
  const caller = { env, folder, pid: process.pid, isPerson: false }
  const code = await runCommandLine([...args, '--json'], caller, streams, opened)
  return { code, json: JSON.parse(out) }
}
