import { ABSENT, equalStates, type SkipReason, type State } from '@turnback/core'
import type { KnownEntry } from '#capture-ports.ts'

/** Not what is skipped for another reason: a socket of that name may have become a directory. */
export function isExcluded(state: State): boolean {
  return state.kind === 'skipped' && state.reason === 'excluded-directory'
}

/** What was below a path that is a directory now. Nothing is below a file, even one that was not read. */
export function stateBelow(before: State): State {
  if (before.kind !== 'skipped') return ABSENT
  return before.reason === 'special-file' || before.sizeBytes !== undefined ? ABSENT : before
}

export function unknownBecause(reason: SkipReason): State {
  return { kind: 'skipped', reason }
}

/** The known entry when it says the same, so that an unchanged folder is found by comparing entries. */
export function same(known: KnownEntry | null, state: State): KnownEntry {
  if (known !== null) {
    if (equalStates(known.state, state)) return known
    if (known.state.kind === 'skipped' && state.kind === 'skipped') {
      if (known.state.reason === state.reason && known.state.sizeBytes === state.sizeBytes) return known
    }
  }
  return { state, stamp: '' }
}
