import type { KeeperName } from '@turnback/core'
import type { OverBudget } from '#store/over-budget.ts'
import { onOneLine } from './visible.ts'

const KEEPERS: Readonly<Record<KeeperName, string>> = {
  openTurns: 'a turn that is open',
  unsentTurns: 'turns that are not sent yet: `turnback push`',
  youngRestores: 'a restore of the last 14 days, which can still be taken back',
  pinnedRestores: 'a restore that is pinned: `turnback pin TURN --remove` lets it go',
  newestTurns: 'its newest turn, and the files as they are now',
}

/** Why nothing more goes, and what to do about it. */
export function overBudgetInWords({ bytes, budgetBytes, unusedBytes, workspaces }: OverBudget): string[] {
  return [
    `the store still takes ${inMiB(bytes)}, more than the ${inMiB(budgetBytes)} it should; nothing else may go:`,
    ...workspaces.flatMap(({ root, turns, keptBy, pinned }) => [
      `  ${onOneLine(root)}, ${turns} turns, kept by`,
      ...keptBy.map((name) => `    ${KEEPERS[name]}`),
      ...(pinned === 0 ? [] : [`    ${pinned} pinned turns and checkpoints: \`turnback pin TURN --remove\``]),
    ]),
    ...(unusedBytes === 0
      ? []
      : [`  ${inMiB(unusedBytes)} are not in use any more; they go when they are an hour old`]),
    'diskBudgetBytes in config.json allows more',
  ]
}

function inMiB(bytes: number): string {
  return `${(bytes / 1024 ** 2).toFixed(1)} MiB`
}
