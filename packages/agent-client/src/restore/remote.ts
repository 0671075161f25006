import type { Preview, RestoreId, RestoreReport, RestoreRequest } from '@turnback/core'
import type { Deps, Workspace } from '#ports.ts'
import type { RestoreAsk } from './ask.ts'
import { executeRestore } from './execute.ts'
import { previewRestore } from './preview.ts'

/** Whose word carries a remote plan out, and which plan it was. */
export interface RemoteWord {
  readonly restore: RestoreId
  readonly token: string
  readonly requestedBy: RestoreReport['requestedBy']
}

/** The restores of the link: the very same as those typed here, from a request of the wire. */
export interface RemoteRestores {
  preview(workspace: Workspace, request: RestoreRequest, restore: RestoreId): Promise<Preview>
  execute(workspace: Workspace, request: RestoreRequest, word: RemoteWord): Promise<RestoreReport>
}

export function createRemoteRestores(deps: Deps): RemoteRestores {
  return {
    async preview(workspace, request, restore) {
      const requestedBy = { kind: 'user', name: '' } as const
      const { preview } = await previewRestore(
        deps,
        askOf(workspace, request, { restore, token: null, requestedBy }),
      )
      return preview
    },
    execute: (workspace, request, word) => executeRestore(deps, askOf(workspace, request, word)),
  }
}

function askOf(
  workspace: Workspace,
  request: RestoreRequest,
  word: Pick<RestoreAsk, 'restore' | 'token' | 'requestedBy'>,
): RestoreAsk {
  const { turn, scope, exact, onConflict, paths, hunks, allowHeadChange } = request
  return {
    workspace,
    target: { kind: 'turn', turn },
    options: { scope, exact, onConflict, paths: paths ?? null, hunks: hunks ?? null },
    allowHeadChange,
    closeOpen: false,
    dryRun: false,
    ...word,
  }
}
