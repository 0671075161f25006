import { findHome } from '#config.ts'
import { findProgram } from '#resident/service.ts'
import { makeLogFile } from '#store/log-file.ts'
import type { Register } from './context.ts'

export const register: Register = (program, context) => {
  program
    .command('acp')
    .argument('<agent>', 'the agent’s own program')
    .argument('[word...]', 'what it is given')
    .option('--agent <name>', 'name of the agent, if not the one that it gives itself')
    .description('start an agent of the Agent Client Protocol for an editor, and record its turns')
    .action(async (command: string, args: string[], options: { agent?: string }) => {
      const { endAs, runProxy } = await import('#acp/proxy.ts')
      const end = await runProxy(
        {
          command,
          args,
          folder: context.folder,
          env: context.env,
          agent: options.agent ?? null,
          program: findProgram(),
          tell: (text) => context.talk(text),
          note: makeLogFile(findHome(context.env).logs, 'acp', () => Date.now()),
        },
        { input: process.stdin, output: process.stdout },
      )
      context.exitCode = endAs(end)
    })
}
