import { DomainError } from '@turnback/core'
import type { Workspace } from '#ports.ts'
import { runTask } from '#task/run-task.ts'
import { Stop } from '#task/stop.ts'
import type { TaskPlan, TaskPorts } from '#task/task.ts'
import type { Context, Register } from './context.ts'
import { ensureWorkspace } from './ensure-workspace.ts'
import { askForYes } from './hold-external.ts'
import { findUserName } from './restore-options.ts'
import { quoteForShell } from './shell-quote.ts'
import { diffOfTurn } from './task-diff.ts'
import { exitOfTask, taskInWords, taskResult } from './task-words.ts'

interface Options {
  readonly task: string
  readonly title?: string
  readonly verify: readonly string[]
  readonly retries: string
  readonly retryFrom: string
  readonly commit?: boolean
  readonly onFail: string
  readonly holdExternal?: boolean
}

const collect = (value: string, list: readonly string[]): string[] => [...list, value]

export const register: Register = (program, context) => {
  program
    .command('run')
    .argument('<command...>', 'what does the task, after --')
    .requiredOption('--task <id>', 'name of the task')
    .option('--title <text>', 'what the task is, for people and for the commit')
    .option('--verify <command>', 'shell line that has to pass afterwards (may be given again)', collect, [])
    .option('--retries <n>', 'further tries after a failed one', '0')
    .option('--retry-from <state>', 'where a further try begins: clean, current or last-good', 'clean')
    .option('--commit', 'land the work as one commit with the trailer Task-Id')
    .option('--on-fail <choice>', 'when no try passed: rollback or keep', 'rollback')
    .option('--hold-external', 'ask for a yes before the task’s own commands reach beyond its files')
    .description('run a task as turns: verify it, land it, or take it back')
    .action(async (command: string[], options: Options) => {
      const plan = toPlan(command, options)
      if (options.holdExternal === true) await askForYes(plan)
      const { workspace } = await ensureWorkspace(context)
      const ports = toPorts(context, workspace)
      const stop = new Stop(() =>
        context.talk('turnback: the tree is being put in order; it will not take long.'),
      )
      stop.takeOver()
      try {
        const end = await runTask(ports, plan, stop)
        context.print(taskResult(plan, end), () => taskInWords(context.deps, plan, end))
        context.exitCode = exitOfTask(end)
      } finally {
        stop.letGo()
      }
    })
}

function toPlan(command: readonly string[], options: Options): TaskPlan {
  const { task, title, verify, retryFrom, commit, onFail } = options
  // Git takes blanks off the ends of a trailer: the commit would have another name, and not be found by this one.
  if (task === '' || task !== task.trim() || /[\0-\x1f\x7f]/.test(task))
    throw usage('--task takes a name of one line, with no blank at its ends.')
  if (!/^\d{1,3}$/.test(options.retries)) throw usage(`--retries is a number, not ${options.retries}.`)
  if (retryFrom !== 'clean' && retryFrom !== 'current' && retryFrom !== 'last-good')
    throw usage(`--retry-from is clean, current or last-good, not ${retryFrom}.`)
  if (onFail !== 'rollback' && onFail !== 'keep') throw usage(`--on-fail is rollback or keep, not ${onFail}.`)
  if (title !== undefined && (title.trim() === '' || isMisleading(title)))
    throw usage('--title takes a line that says what the task is.')
  return {
    ...{ task, command, verify, retryFrom, onFail },
    title: title ?? null,
    line: command.map(quoteForShell).join(' '),
    retries: Number(options.retries),
    commit: commit === true,
  }
}

/** It would be taken for the trailer of another task. */
function isMisleading(title: string): boolean {
  return /^[ \t]*(?:Task-Id|Reverts-Task)[ \t]*:/im.test(title)
}

function usage(message: string): DomainError {
  return new DomainError('USAGE', {}, { message })
}

function toPorts(context: Context, workspace: Workspace): TaskPorts {
  const { deps, env, folder, isJson } = context
  return {
    ...{ deps, workspace, folder, env, isJson },
    requestedBy: { kind: 'local', name: findUserName() },
    progress(text) {
      if (context.caller.isPerson) context.talk(`turnback: ${text}`)
    },
    warn: (text) => context.talk(`turnback: ${text}`),
    diffOf: (turn) => diffOfTurn(deps, workspace, turn, (text) => context.talk(text)),
  }
}
