import { utf8Bytes } from '@turnback/core'
import type { ClientDeps } from '#deps.ts'
import type { TurnRow, Workspace } from '#ports.ts'
import { changesOfTurn, patchesOf, sayLost } from './turn-diff.ts'
import { onOneLine } from './visible.ts'

/** What a turn did, file by file, for whoever tries next. Files that hold secrets are named only: it may be a model. */
export function* diffOfTurn(
  deps: ClientDeps,
  workspace: Workspace,
  turn: TurnRow,
  talk: (text: string) => void,
): Generator<Uint8Array> {
  for (const entry of changesOfTurn(deps, workspace, turn)) {
    if (entry.sealed || deps.log.isSealedPath(workspace.id, entry.path))
      yield utf8Bytes(`# ${onOneLine(entry.path)}: changed, and not shown because it may hold secrets\n`)
    else for (const { patch } of patchesOf(deps, [entry], [], sayLost({ talk }))) yield patch
  }
}
