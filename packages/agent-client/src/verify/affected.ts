import type { BlobId, RelPath, State, TurnId, WorkspaceId } from '@turnback/core'
import type { ClientDeps } from '#deps.ts'
import { id, json, text } from '#store/rows.ts'

/** Where blobs that are lost were of use: each path once. */
export interface Affected {
  readonly blobs: readonly BlobId[]
  readonly workspace: string
  readonly path: RelPath
  /** Turns that found it there or left it there. */
  readonly turns: readonly TurnId[]
  /** The file as it is now is one of them: capturing it again brings the bytes back. */
  readonly isPresent: boolean
}

/** One place that names a state: a turn's, or null for the tree as it is known now. */
interface Place {
  readonly path: RelPath
  readonly turn: TurnId | null
  readonly states: readonly State[]
}

/** Says which paths and turns need the given blobs. */
export function listAffected(deps: ClientDeps, blobs: readonly BlobId[]): Affected[] {
  if (blobs.length === 0) return []
  const bad = new Set<string>(blobs)
  const found = new Map<string, Affected & { blobs: BlobId[]; turns: TurnId[]; isPresent: boolean }>()
  for (const { id: workspace, root } of deps.log.listWorkspaces()) {
    for (const { path, turn, states } of placesOf(deps, workspace, JSON.stringify(blobs))) {
      for (const state of states) {
        if (state.kind !== 'file' || !bad.has(state.blob)) continue
        const key = `${workspace} ${path}`
        const known = found.get(key) ?? { blobs: [], workspace: root, path, turns: [], isPresent: false }
        found.set(key, known)
        if (!known.blobs.includes(state.blob)) known.blobs.push(state.blob)
        if (turn === null) known.isPresent = true
        else if (!known.turns.includes(turn)) known.turns.push(turn)
      }
    }
  }
  return [...found.values()]
}

function* placesOf({ db, log }: ClientDeps, workspace: WorkspaceId, list: string): Generator<Place> {
  for (const [path, state] of log.getKnownTree(workspace)) yield { path, turn: null, states: [state] }
  const sql = `SELECT path, turn, before, after FROM changes WHERE workspace = ?1
    AND (before ->> '$.blob' IN (SELECT value FROM json_each(?2)) OR after ->> '$.blob' IN (SELECT value FROM json_each(?2)))`
  for (const row of db.all(sql, workspace, list)) {
    const states = [json<State>(row, 'before'), json<State>(row, 'after')]
    yield { path: text(row, 'path'), turn: id(row, 'turn', 't'), states }
  }
  for (const { turn } of log.listListed(workspace)) {
    for (const [path, { state, later }] of log.findListing(turn) ?? [])
      yield { path, turn, states: [state, ...later.flatMap((change) => [change.before, change.after])] }
  }
}
