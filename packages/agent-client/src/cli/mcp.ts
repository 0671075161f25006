import { DomainError } from '@turnback/core'
import { findHome } from '#config.ts'
import { makeLogFile } from '#store/log-file.ts'
import { type Caller, Context, type Register, type RunLine, type Streams } from './context.ts'

export const register: Register = (program, context, runLine) => {
  program
    .command('mcp')
    .description(
      'serve an agent’s model over standard input and output: it can look at turns and make checkpoints',
    )
    .action(async () => {
      const { serveTools } = await import('#mcp/server.ts')
      const note = makeLogFile(findHome(context.env).logs, 'mcp', () => Date.now())
      await serveTools(
        context.folder,
        (folder, argv) => runCommand(runLine, { ...context.caller, isPerson: false }, folder, argv),
        (error) => note('trouble', { message: error.message }),
      )
    })
}

/** Runs one command in this process. @returns what it prints with `--json` */
async function runCommand(
  runLine: RunLine,
  caller: Caller,
  folder: string,
  argv: readonly string[],
): Promise<unknown> {
  let out = ''
  const streams: Streams = {
    out(text) {
      out += typeof text === 'string' ? text : Buffer.from(text).toString('utf8')
    },
    talk() {},
    readStdin: async () => '',
  }
  const here = { ...caller, folder: findRoot({ ...caller, folder }, streams) }
  await runLine(['--json', ...argv], here, streams, null)
  return JSON.parse(out)
}

/** Paths are given and told relative to the root; a folder that is in no workspace yet stands for itself. */
function findRoot(caller: Caller, streams: Streams): string {
  const context = new Context(caller, streams)
  try {
    return context.findWorkspace()?.root ?? caller.folder
  } catch (error) {
    // The command meets the same trouble, and says it.
    if (error instanceof DomainError) return caller.folder
    throw error
  } finally {
    context.close()
  }
}
