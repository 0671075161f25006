import type { SkippedPath } from '@turnback/core'
import type { ClientDeps } from '#deps.ts'
import type { Workspace } from '#ports.ts'

/** What the last scan of a tree found. */
export function summariseTree(
  deps: ClientDeps,
  workspace: Pick<Workspace, 'id'>,
): { files: number; bytes: number; skipped: readonly SkippedPath[] } {
  let bytes = 0
  for (const state of deps.log.getKnownTree(workspace.id).values()) {
    if (state.kind === 'file') bytes += state.sizeBytes
  }
  return { ...deps.captureLog.summariseKnown(workspace.id), bytes }
}
