import type { Deps, Workspace } from '#ports.ts'
import { asDomainError } from './push-trouble.ts'

type Note = (event: string, facts?: Readonly<Record<string, unknown>>) => void

/** Workspaces with turns that nobody signed: a look at the tree that no turn's end followed (a preview, say) made them. */
export function listUnsettled({ log, capture }: Pick<Deps, 'log' | 'capture'>): Workspace[] {
  return log.listWorkspaces().filter((workspace) => !capture.isSettled(workspace))
}

/** The same, without those where an agent is at work: its end signs them, and until then nothing stands in its way. */
export function listQuietUnsettled(deps: Pick<Deps, 'log' | 'capture'>): Workspace[] {
  return listUnsettled(deps).filter(
    (workspace) =>
      !deps.capture.isAwaitingAudit(workspace) && deps.log.listOpenTurns(workspace.id).length === 0,
  )
}

/**
 * Signs them, so that they can be sent. A tree that is in use just now keeps its own for the next time; what is
 * signed already is sent all the same.
 */
export async function settleAll(
  { capture }: Pick<Deps, 'capture'>,
  workspaces: readonly Workspace[],
  note: Note,
): Promise<void> {
  for (const workspace of workspaces) {
    try {
      await capture.settle(workspace)
    } catch (thrown) {
      const error = asDomainError(thrown)
      note('not-settled', { workspace: workspace.id, code: error.code, message: error.message })
    }
  }
}
