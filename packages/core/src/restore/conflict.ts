import type { ConflictChoice } from '#command/messages.ts'
import { isBlink } from '#history/blink.ts'
import type { Change } from '#history/change.ts'
import { isInScope, ownerOf, type ResolvedScope } from '#history/scope.ts'
import type { Stack } from '#history/stack.ts'
import { isWork } from '#history/turn-facts.ts'
import { differOnlyInLineEnds } from '#text/binary.ts'
import { equalStates, type State } from '#tree/state.ts'
import { type Decision, isSameBlob, NO_EFFECT, type PlanContent, refOf } from './decision.ts'
import { mergeStates } from './merge-states.ts'
import type { AlsoUndone, KeptPath, KeptReason } from './report.ts'

/** One path's stack, cut at the changes of the scope. */
interface Cut {
  readonly stack: Stack
  readonly scope: ResolvedScope
  readonly content: PlanContent
  /** The changes in scope, oldest first. */
  readonly mine: readonly Change[]
  readonly oldest: Change
  readonly newest: Change
  readonly top: Change
  /** From the oldest change in scope up to the top: what a restore takes off. */
  readonly span: readonly Change[]
  readonly wanted: State
  readonly present: State
  /** What the stack below `span` says that the path is. */
  readonly below: State
}

/** What is known of one path. */
export interface PathHistory {
  /** Its live changes; at least one. */
  readonly stack: Stack
  /** The path in the tree that the capture saw: the top of the stack, unless a scan could not see it. */
  readonly present: State
  /** What it was before any change in the log. */
  readonly base: State
}

/**
 * Decides what a restore does with one path, by its stack of live changes alone (contract rule 5).
 * @returns null when no live change of the path is in scope or shared with a turn of the scope
 */
export function decidePath(
  { stack, present, base }: PathHistory,
  scope: ResolvedScope,
  onConflict: ConflictChoice,
  content: PlanContent,
): Decision | null {
  const mine = stack.filter((change) => isInScope(scope, change))
  const [oldest, newest, top] = [mine[0], mine.at(-1), stack.at(-1)]
  if (top === undefined) return null
  if (oldest === undefined || newest === undefined) return decideShared(stack, present, scope)
  const at = stack.indexOf(oldest)
  const below = at > 0 ? (stack[at - 1]?.after ?? base) : base
  const span = stack.slice(at)
  const cut = {
    stack,
    scope,
    content,
    mine,
    oldest,
    newest,
    top,
    span,
    wanted: oldest.before,
    present,
    below,
  }
  const isOwnTop =
    top === newest || stack.slice(stack.indexOf(newest) + 1).every((change) => isBlink(stack, change))
  if (cut.wanted.kind === 'skipped') {
    return { act: 'skip', path: top.path, from: present, reason: cut.wanted.reason }
  }
  if (present.kind !== 'skipped' && !equalStates(top.after, present)) {
    // The way from the top to what is there now was hidden from every scan.
    return keep(cut, { path: top.path, reason: 'unknown-writer' }, true)
  }
  if (equalStates(present, cut.wanted)) {
    return isOwnTop ? takeSpan(cut, present) : settle(cut, [])
  }
  if (present.kind === 'skipped') return keep(cut, { path: top.path, reason: 'not-captured' }, false)
  if (isOwnTop) return decideOwnTop(cut)
  // One turn out of the middle: what came later is kept by merging, unless it is to be saved aside.
  if (scope.scope === 'turn' && onConflict !== 'save') return decideMerge(cut)
  return decideForeignTop(cut, onConflict)
}

/**
 * No change of the path is in scope. One that a turn of the scope shares with another open turn stays, and that is
 * said: the turn lists it among its own. Null when there is none.
 */
function decideShared(stack: Stack, present: State, scope: ResolvedScope): Decision | null {
  if (scope.allSessions) return null
  const shared = stack.find((change) => change.sharedBy.some((turn) => scope.members.has(turn)))
  if (shared === undefined) return null
  const { path, before: wanted } = shared
  const from = present
  if (wanted.kind === 'skipped') return { act: 'skip', path, from, reason: wanted.reason }
  if (equalStates(from, wanted)) return { act: 'settle', path, from, effect: NO_EFFECT, alsoUndoes: [] }
  if (from.kind === 'skipped')
    return { act: 'keep', path, from, wanted, kept: { path, reason: 'not-captured' }, isConflict: false }
  return { act: 'keep', path, from, wanted, kept: keptBecauseOf(shared, 'shared'), isConflict: true }
}

/** The top is in scope: everything goes, unless another session's work lies in between. */
function decideOwnTop(cut: Cut): Decision {
  return findForeignBetween(cut) ?? takeSpan(cut, cut.wanted)
}

/** A change in between that is not a person's and not in scope keeps the path, or null. */
function findForeignBetween(cut: Cut): Decision | null {
  if (cut.scope.allSessions) return null
  const below = cut.stack.slice(0, cut.stack.indexOf(cut.newest))
  for (const change of below.slice(cut.stack.indexOf(cut.oldest))) {
    const owner = ownerOf(change)
    if (owner === 'person' || isInScope(cut.scope, change)) continue
    return keep(
      cut,
      keptBecauseOf(change, owner === 'shared' ? 'shared' : 'interleaved-with-other-session'),
      true,
    )
  }
  return null
}

/** Someone else wrote the path last: a conflict, but for a person's chmod. */
function decideForeignTop(cut: Cut, onConflict: ConflictChoice): Decision {
  const foreign = cut.stack.slice(cut.stack.indexOf(cut.newest) + 1)
  if (foreign.every(isPersonsChmod) && cut.wanted.kind === 'file')
    return findForeignBetween(cut) ?? keepMode(cut, foreign)
  switch (onConflict) {
    case 'keep':
    case 'fail':
      return keep(cut, whyKept(cut), true)
    case 'save':
      return findForeignBetween(cut) ?? takeSpan(cut, cut.wanted)
    case 'merge':
      return decideMerge(cut)
  }
}

function isPersonsChmod(change: Change): boolean {
  return ownerOf(change) === 'person' && isSameBlob(change.before, change.after)
}

/** The bytes go back, the person's mode stays: the one state that no stack holds yet. */
function keepMode(cut: Cut, chmods: readonly Change[]): Decision {
  const { wanted, top, span } = cut
  if (wanted.kind !== 'file' || top.after.kind !== 'file') return keep(cut, whyKept(cut), true)
  const to: State = { ...wanted, mode: top.after.mode }
  return takeSpan(
    cut,
    to,
    span.filter((change) => !chmods.includes(change)),
  )
}

/**
 * Takes everything off from the oldest change in scope upwards. When what is left below does not hold the state
 * that the path comes to (a kept mode; or a change in between was taken out earlier), that state is pushed, so
 * that the top of a stack is always what is there.
 * @param undone the changes whose work is gone from the tree afterwards
 */
function takeSpan(cut: Cut, to: State, undone: readonly Change[] = cut.span): Decision {
  const pushed = equalStates(cut.below, to) ? null : { before: cut.below, after: to }
  if (equalStates(to, cut.present)) return settle(cut, cut.span, pushed, undone)
  return write(cut, to, cut.span, pushed, undone)
}

/**
 * Takes the changes in scope out from where they lie, run by run from the top down, so that what lies between
 * them stays as well.
 */
function decideMerge(cut: Cut): Decision {
  let state: State = cut.top.after
  for (const run of runsOf(cut).reverse()) {
    const outcome = mergeStates(cut.top.path, run.after, state, run.before, cut.content)
    if (outcome.is === 'missing-blob') return keep(cut, { path: cut.top.path, reason: 'missing-blob' }, false)
    if (outcome.is === 'unclean') return keep(cut, whyKept(cut), true)
    state = outcome.state
  }
  const pushed = { before: cut.top.after, after: state }
  if (equalStates(state, cut.top.after)) return settle(cut, cut.mine)
  return { ...write(cut, state, cut.mine, pushed), isMerge: true }
}

/** Changes in scope that lie on one another, as one step each. */
function runsOf(cut: Cut): { before: State; after: State }[] {
  const runs: { before: State; after: State }[] = []
  let isRunning = false
  for (const change of cut.span) {
    const isMine = cut.mine.includes(change)
    const last = runs.at(-1)
    if (isMine && isRunning && last !== undefined) last.after = change.after
    else if (isMine) runs.push({ before: change.before, after: change.after })
    isRunning = isMine
  }
  return runs
}

/** Why a path stays whose top is out of scope. */
function whyKept(cut: Cut): KeptPath {
  const { top, newest, content } = cut
  switch (ownerOf(top)) {
    case 'shared':
      return keptBecauseOf(top, 'shared')
    case 'session': {
      const isOwn = top.session === cut.scope.target.session
      return keptBecauseOf(top, isOwn ? 'changed-after-turn' : 'owned-by-other-session')
    }
    case 'person': {
      const [then, now] = [newest.after, top.after]
      if (isOtherKind(then, now, cut.wanted)) return keptBecauseOf(top, 'type-changed')
      if (then.kind === 'file' && now.kind === 'file' && then.blob !== now.blob) {
        const [a, b] = [content.readText(then.blob), content.readText(now.blob)]
        if (a !== null && b !== null && differOnlyInLineEnds(a, b))
          return keptBecauseOf(top, 'line-endings-only')
      }
      return keptBecauseOf(top, 'changed-after-turn')
    }
  }
}

/**
 * Whether somebody put another kind of thing in a path's place. Nothing is no kind: what came back after it was
 * deleted is held against what is wanted.
 * @param then what the path was left as
 */
export function isOtherKind(
  then: Pick<State, 'kind'>,
  now: Pick<State, 'kind'>,
  wanted: Pick<State, 'kind'>,
): boolean {
  if (now.kind === 'absent') return false
  const expected = then.kind === 'absent' ? wanted.kind : then.kind
  return expected !== 'absent' && expected !== now.kind
}

export function keptBecauseOf(change: Change, reason: KeptReason): KeptPath {
  const { path, turn, session } = change
  return session === null ? { path, reason, turn } : { path, reason, turn, session }
}

function keep(cut: Cut, kept: KeptPath, isConflict: boolean): Decision {
  return { act: 'keep', path: cut.top.path, from: cut.present, wanted: cut.wanted, kept, isConflict }
}

type Pushed = { readonly before: State; readonly after: State } | null

function settle(cut: Cut, popped: readonly Change[], pushed: Pushed = null, undone = popped): Decision {
  const effect = popped.length === 0 ? NO_EFFECT : { popped: popped.map(refOf), putBack: [], pushed }
  return {
    act: 'settle',
    path: cut.top.path,
    from: cut.present,
    effect,
    alsoUndoes: alsoUndone(cut, undone),
  }
}

function write(
  cut: Cut,
  to: State,
  popped: readonly Change[],
  pushed: Pushed,
  undone: readonly Change[] = popped,
): Decision & { act: 'write' } {
  return {
    act: 'write',
    path: cut.top.path,
    from: cut.present,
    to,
    isMerge: false,
    effect: { popped: popped.map(refOf), putBack: [], pushed },
    alsoUndoes: alsoUndone(cut, undone),
  }
}

/** Popped changes that the scope does not speak of: not in it, or of a turn that it does not name. */
function alsoUndone(cut: Cut, popped: readonly Change[]): AlsoUndone[] {
  return popped
    .filter((change) => !isInScope(cut.scope, change) || (isWork(change.kind) && !isNamed(cut.scope, change)))
    .filter((change) => !isBlink(cut.stack, change))
    .map((change) => ({ path: change.path, turn: change.turn }))
}

function isNamed(scope: ResolvedScope, change: Change): boolean {
  return scope.members.has(change.turn) || change.sharedBy.some((turn) => scope.members.has(turn))
}
