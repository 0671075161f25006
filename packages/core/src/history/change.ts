import type { TurnId } from '#ids.ts'
import type { Source, TurnKind } from '#manifest/manifest.ts'
import type { RelPath } from '#path/rel-path.ts'
import type { State } from '#tree/state.ts'

/**
 * One change of one path, as one scan found it. A scan pushes a path once at most, so `path` and `scan`
 * name a change. A change found while several turns were open and no tool event named the path is `shared`:
 * it belongs to all of `sharedBy`.
 */
export interface Change {
  readonly path: RelPath
  readonly scan: number
  /** The turn that lists the change; for a shared one, the first of `sharedBy`. */
  readonly turn: TurnId
  readonly kind: TurnKind
  readonly session: string | null
  readonly source: Source
  readonly sharedBy: readonly TurnId[]
  readonly before: State
  readonly after: State
}

/** What a restore did to the stacks, in the order of scans. `added` and `removed` are by path and scan. */
export interface RestoreEvent {
  readonly turn: TurnId
  readonly scan: number
  readonly popped: readonly { readonly path: RelPath; readonly scan: number }[]
  readonly putBack: readonly { readonly path: RelPath; readonly scan: number }[]
  readonly pushed: readonly { readonly path: RelPath; readonly before: State; readonly after: State }[]
}
