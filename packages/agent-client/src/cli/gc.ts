import { type ErrorCode, errorCatalogue, limits, type WorkspaceId } from '@turnback/core'
import type { Leases } from '#ports.ts'
import { listRestoreFactsOf } from '#restore/facts.ts'
import { collectGarbage, type GcParts, type GcResult } from '#store/gc.ts'
import { withLogCopy } from '#store/log-copy.ts'
import type { Context, Register } from './context.ts'
import { gcParts } from './gc-parts.ts'
import { overBudgetInWords } from './over-budget-words.ts'

/** In a copy of the log nobody else is at work. */
const FREE: Leases = {
  run: (workspace, purpose, work) => work({ workspace: workspace.id, purpose, check: () => {} }),
  findHolder: () => null,
  isWanted: () => false,
}

export const register: Register = (program, context) => {
  program
    .command('gc')
    .option('--dry-run', 'say what would be removed, and remove nothing')
    .option('--compact', 'put together also what was captured in the last hour')
    .description('remove what the limits of age, turns and bytes do not keep')
    .action(async ({ dryRun, compact }: { dryRun?: boolean; compact?: boolean }) => {
      const cold = compact === true ? { coldMs: 0 } : {}
      const result =
        dryRun === true ? await tryOut(context) : await collectGarbage({ ...partsOf(context), ...cold })
      context.print({ dryRun: dryRun === true, ...result }, () => inWords(result, dryRun === true))
    })
}

function partsOf(context: Context): GcParts {
  return gcParts(context.deps, context.env, { progress: sayOnTerminal(context) })
}

/** Runs the same on a copy of the log, so that the numbers are exact and nobody is kept waiting. */
function tryOut(context: Context): Promise<GcResult> {
  const parts = partsOf(context)
  return withLogCopy(context.deps, ({ store, db, log }) => {
    const listRestoreFacts = (workspace: WorkspaceId) => listRestoreFactsOf(log, workspace)
    return collectGarbage({ ...parts, store, db, log, leases: FREE, listRestoreFacts, isDryRun: true })
  })
}

function sayOnTerminal(context: Context): (step: string) => void {
  if (!process.stderr.isTTY || context.isJson) return () => {}
  let said = ''
  return (step) => {
    if (step !== said) context.talk(step)
    said = step
  }
}

function inWords(result: GcResult, isDryRun: boolean): string {
  const would = isDryRun ? 'would be ' : ''
  return [
    `${result.turns} turns ${would}removed, ${result.blobs} blobs of ${result.bytes} bytes`,
    ...(isDryRun ? [] : [`${result.bytesFreed} bytes of disk are free again`]),
    ...(result.trouble === null ? [] : [troubleInWords(result.trouble)]),
    ...(result.overBudget === null ? [] : overBudgetInWords(result.overBudget)),
    ...(result.busy === 0 ? [] : [`${result.busy} workspaces were busy; they are looked at next time`]),
  ].join('\n')
}

function troubleInWords(code: ErrorCode): string {
  const { message, remedy } = errorCatalogue[code]
  // What is of use in a pack is written anew before the pack goes.
  const room = `there has to be room for one more pack, up to ${limits.packBytes >> 20} MiB; then run \`turnback gc\` again`
  return `not all room could be given back: ${message} (${code})\n${code === 'STORE_FULL' ? room : remedy}`
}
