import { DomainError } from '#errors.ts'
import type { Change } from '#history/change.ts'
import type { TurnFacts } from '#history/turn-facts.ts'
import type { TurnId } from '#ids.ts'
import type { RelPath } from '#path/rel-path.ts'
import { isText } from '#text/binary.ts'
import { equalBytes } from '#text/bytes.ts'
import { diffHunks, hunkId, revertHunks } from '#text/hunks.ts'
import type { FileState, State } from '#tree/state.ts'
import type { Decision, PlanContent } from './decision.ts'
import type { KeptReason } from './report.ts'

/** A turn's own change of one path: before its first push and after its last. */
interface OwnChange {
  readonly before: State
  readonly after: State
}

/**
 * Decides what reverting some hunks of a turn's own change does with one file. It takes nothing off the
 * stack; the new text is pushed as a change of its own.
 * @throws DomainError PATH_NOT_FOUND when the turn did not touch the path, VALIDATION_FAILED for an unknown hunk
 */
export function decideHunks(
  path: RelPath,
  ids: readonly string[],
  target: TurnFacts,
  changes: readonly Change[],
  present: State,
  content: PlanContent,
): Decision {
  const own = findOwnChange(path, target.turn, changes)
  if (own === null) throw new DomainError('PATH_NOT_FOUND', { path, turn: target.turn })
  const keep = (reason: KeptReason, isConflict: boolean): Decision => ({
    act: 'keep',
    path,
    from: present,
    wanted: own.before,
    kept: { path, reason },
    isConflict,
  })
  if (present.kind === 'skipped') return keep('not-captured', false)
  if (own.before.kind !== 'file' || own.after.kind !== 'file' || present.kind !== 'file')
    return keep('type-changed', true)
  const texts = readTexts([own.before, own.after, present], content)
  if (texts === null) return keep('missing-blob', false)
  const [before, after, now] = texts
  const known = diffHunks(before, after).map((hunk) => hunkId(hunk, content.sha256))
  const unknown = ids.filter((id) => !known.includes(id))
  if (unknown.length > 0) throw unknownHunks(path, unknown, known)
  const reverted = isText(now) ? revertHunks(now, before, after, ids, content.sha256) : null
  if (reverted === null) return keep('changed-after-turn', true)
  if (equalBytes(reverted, now)) {
    return {
      act: 'settle',
      path,
      from: present,
      effect: { popped: [], putBack: [], pushed: null },
      alsoUndoes: [],
    }
  }
  const to: State = { ...present, blob: content.nameText(path, reverted), sizeBytes: reverted.length }
  const effect = { popped: [], putBack: [], pushed: { before: present, after: to } }
  return { act: 'write', path, from: present, to, isMerge: false, effect, alsoUndoes: [] }
}

function unknownHunks(path: RelPath, hunks: readonly string[], known: readonly string[]): DomainError {
  const has = known.length === 0 ? 'it has none' : `it has ${known.join(' ')}`
  const message = `This turn’s change of ${path} has no hunk ${hunks.join(' ')}: ${has}.`
  return new DomainError('VALIDATION_FAILED', { path, hunks, known }, { message })
}

function findOwnChange(path: RelPath, turn: TurnId, changes: readonly Change[]): OwnChange | null {
  const own = changes
    .filter((change) => change.path === path && (change.turn === turn || change.sharedBy.includes(turn)))
    .toSorted((a, b) => a.scan - b.scan)
  const [first, last] = [own[0], own.at(-1)]
  return first === undefined || last === undefined ? null : { before: first.before, after: last.after }
}

function readTexts(
  states: readonly [FileState, FileState, FileState],
  content: PlanContent,
): [Uint8Array, Uint8Array, Uint8Array] | null {
  const [a, b, c] = states.map((state) => (content.hasBlob(state.blob) ? content.readText(state.blob) : null))
  return a == null || b == null || c == null ? null : [a, b, c]
}
