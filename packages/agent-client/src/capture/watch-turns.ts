import { setTimeout as sleep } from 'node:timers/promises'
import { DomainError, type TurnId } from '@turnback/core'
import type { Deps, Workspace } from '#ports.ts'

type WatchDeps = Pick<Deps, 'log' | 'capture'>
type Note = (event: string, facts: Readonly<Record<string, unknown>>) => void

const LOOK_MS = 2000

/**
 * Looks after open turns as long as it is not aborted: those whose agent ended, or went silent, are closed as `lost`.
 * What is found once is done when it is found again: an agent's last word may be on its way when its process has gone.
 */
export async function watchTurns(
  deps: WatchDeps,
  note: Note,
  signal: AbortSignal,
  everyMs: number = LOOK_MS,
): Promise<void> {
  let before: ReadonlySet<TurnId> = new Set()
  while (!signal.aborted) {
    const found = new Set<TurnId>()
    for (const workspace of deps.log.listWorkspaces()) await lookAt(deps, workspace, { note, before, found })
    before = found
    await sleep(everyMs, undefined, { signal, ref: false }).catch(() => undefined)
  }
}

async function lookAt(
  { capture }: WatchDeps,
  workspace: Workspace,
  round: { readonly note: Note; readonly before: ReadonlySet<TurnId>; readonly found: Set<TurnId> },
): Promise<void> {
  try {
    const left = capture.listLeftBehind(workspace)
    for (const turn of left) round.found.add(turn)
    if (!left.some((turn) => round.before.has(turn))) return
    for (const turn of await capture.lookAfter(workspace, round.before)) round.note('turn-lost', { turn })
  } catch (error) {
    // A full disk, a folder that is gone: the next look tries again, and what else this process does goes on.
    if (!(error instanceof Error)) throw error
    const code = error instanceof DomainError ? error.code : 'INTERNAL'
    round.note('turns-not-looked-after', { workspace: workspace.id, code, message: error.message })
  }
}
