import { equalStates, type State } from '#tree/state.ts'
import type { Change } from './change.ts'
import { ownerOf } from './scope.ts'
import type { Stack } from './stack.ts'

/**
 * True for one of two changes of no session that lie on one another and say together that a path could not be looked at
 * for a while and then was as before. Nobody did anything to it: it stands in nobody's way, and is no edit that is lost.
 */
export function isBlink(stack: Stack, change: Change): boolean {
  const at = stack.indexOf(change)
  return areBlink(stack[at], stack[at + 1]) || areBlink(stack[at - 1], stack[at])
}

function areBlink(first: Change | undefined, second: Change | undefined): boolean {
  if (first === undefined || second === undefined) return false
  return (
    ownerOf(first) === 'person' &&
    ownerOf(second) === 'person' &&
    isUnseen(first.after) &&
    isUnseen(second.before) &&
    equalStates(first.before, second.after)
  )
}

/** Not looked at, for a reason that says nothing of what the path is. */
function isUnseen(state: State): boolean {
  if (state.kind !== 'skipped') return false
  switch (state.reason) {
    case 'unreadable':
    case 'changed-while-reading':
      return true
    case 'too-large':
    case 'excluded-directory':
    case 'special-file':
    case 'nested-git-dir':
    case 'nested-workspace':
    case 'budget':
    case 'unsafe-live':
      return false
  }
}
