import type { ClientDeps } from '#deps.ts'
import { findFormerPlaces } from '#worktree/find-root.ts'
import { quoteForShell } from './shell-quote.ts'
import { onOneLine } from './visible.ts'

/** A history that somebody may miss here, since its folder was moved away or another one took its place. */
export interface FormerHistory {
  readonly workspace: string
  readonly why: 'moved' | 'replaced'
  /** Where its folder was. */
  readonly root: string
  /** Where that folder, or the one in its place, is now. */
  readonly now: string
  readonly turns: number
}

export function listFormerHistories({ log }: Pick<ClientDeps, 'log'>, folder: string): FormerHistory[] {
  return findFormerPlaces(folder, log.listWorkspaces()).flatMap(({ workspace, why, root }) => {
    const turns = log.listTurns(workspace.id).length
    return turns === 0 ? [] : [{ workspace: workspace.id, why, root: workspace.root, now: root, turns }]
  })
}

export function formerInWords({ why, root, now, turns }: FormerHistory): string {
  const count = turns === 1 ? 'a turn was' : `${turns} turns were`
  return why === 'moved'
    ? `this folder was ${onOneLine(root)} when ${count} recorded in it; its history is there again after: mv ${quoteForShell(now)} ${quoteForShell(root)}`
    : `another folder was at ${onOneLine(root)} when ${count} recorded there; that history is there again when that folder is back in its place`
}
