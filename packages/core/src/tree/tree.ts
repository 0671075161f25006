import type { RelPath } from '#path/rel-path.ts'
import type { State } from './state.ts'

/**
 * The states of the paths of one workspace at one moment. Paths that are not in the map are absent,
 * unless one of their parents is `skipped`: then nothing is known of them.
 */
export type Tree = ReadonlyMap<RelPath, State>
