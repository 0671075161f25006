import type { RelPath } from '#path/rel-path.ts'
import { mergeTexts } from '#text/merge.ts'
import { equalStates, type FileState, type State } from '#tree/state.ts'
import { isSameBlob, type PlanContent } from './decision.ts'

export type MergeOutcome =
  | { readonly is: 'clean'; readonly state: State }
  | { readonly is: 'unclean' }
  | { readonly is: 'missing-blob' }

/**
 * Three-way merge of states. A side that did not change takes the other's state whole; files merge their bytes
 * as text and their modes by the same rule; everything else is unclean.
 */
export function mergeStates(
  path: RelPath,
  base: State,
  ours: State,
  theirs: State,
  content: PlanContent,
): MergeOutcome {
  if (equalStates(base, theirs) || equalStates(ours, theirs)) return { is: 'clean', state: ours }
  if (base.kind !== 'file' || ours.kind !== 'file' || theirs.kind !== 'file') return { is: 'unclean' }
  const mode = ours.mode === base.mode ? theirs.mode : ours.mode
  if (isSameBlob(base, theirs) || isSameBlob(ours, theirs)) return { is: 'clean', state: { ...ours, mode } }
  if (isSameBlob(base, ours)) return { is: 'clean', state: { ...theirs, mode } }
  return mergeBytes(path, base, ours, theirs, mode, content)
}

function mergeBytes(
  path: RelPath,
  base: FileState,
  ours: FileState,
  theirs: FileState,
  mode: number,
  content: PlanContent,
): MergeOutcome {
  if (![base, ours, theirs].every((state) => content.hasBlob(state.blob))) return { is: 'missing-blob' }
  const [a, b, c] = [content.readText(base.blob), content.readText(ours.blob), content.readText(theirs.blob)]
  const merged = a === null || b === null || c === null ? null : mergeTexts(a, b, c)
  if (merged === null) return { is: 'unclean' }
  return {
    is: 'clean',
    state: { kind: 'file', blob: content.nameText(path, merged), sizeBytes: merged.length, mode },
  }
}
