import { isBlink } from '#history/blink.ts'
import type { Change, RestoreEvent } from '#history/change.ts'
import { ownerOf } from '#history/scope.ts'
import { changesOfRestore, type LiveStacks, type Stack } from '#history/stack.ts'
import type { ChangeRef } from '#manifest/manifest.ts'
import type { RelPath } from '#path/rel-path.ts'
import { equalStates, type State } from '#tree/state.ts'
import { keptBecauseOf } from './conflict.ts'
import { type Decision, refOf } from './decision.ts'
import type { KeptPath } from './report.ts'

/** What a restore did to one path's stack. */
interface NetEffect {
  readonly added: Change[]
  readonly removed: Change[]
}

export interface TakeBackInput {
  readonly event: RestoreEvent
  /** The stacks now. */
  readonly now: LiveStacks
  /** The stacks as the restore left them. */
  readonly then: LiveStacks
  /** Finds a change by path and scan, live or not. */
  readonly findChange: (path: RelPath, scan: number) => Change | null
  readonly present: (path: RelPath) => State
  /** The session of the turn that the restore was asked for, or null. */
  readonly session: string | null
}

/**
 * Decides, path by path, how a restore is taken back: what it took off is put back and what it pushed is taken
 * off, wherever the stack is exactly as the restore left it (contract rule 6).
 */
export function decideTakeBack(input: TakeBackInput): Decision[] {
  const decisions: Decision[] = []
  for (const [path, net] of netEffects(input.event, input.findChange)) {
    const now = input.now.get(path) ?? []
    const then = input.then.get(path) ?? []
    const blinks = blinksSince(now, then)
    const added = new Set(net.added.map((change) => change.scan))
    const next = [...then.filter((change) => !added.has(change.scan)), ...net.removed].sort(
      (a, b) => a.scan - b.scan,
    )
    const from = input.present(path)
    const wanted = next.at(-1)?.after ?? net.added[0]?.before ?? from
    const left = now.filter((change) => !blinks.includes(change))
    if (!isSameStack(left, then)) {
      const kept = whyKept(path, now, then, input.session)
      decisions.push({ act: 'keep', path, from, wanted, kept, isConflict: true })
    } else if (from.kind !== 'skipped' && !equalStates(now.at(-1)?.after ?? from, from)) {
      decisions.push({
        act: 'keep',
        path,
        from,
        wanted,
        kept: { path, reason: 'unknown-writer' },
        isConflict: true,
      })
    } else decisions.push(decide(path, { ...net, added: [...net.added, ...blinks] }, from, wanted))
  }
  return decisions
}

function decide(path: RelPath, net: NetEffect, from: State, wanted: State): Decision {
  const effect = { popped: net.added.map(refOf), putBack: net.removed.map(refOf), pushed: null }
  if (equalStates(from, wanted)) return { act: 'settle', path, from, effect, alsoUndoes: [] }
  if (wanted.kind === 'skipped') return { act: 'skip', path, from, reason: wanted.reason }
  if (from.kind === 'skipped') {
    return { act: 'keep', path, from, wanted, kept: { path, reason: 'not-captured' }, isConflict: false }
  }
  return { act: 'write', path, from, to: wanted, isMerge: false, effect, alsoUndoes: [] }
}

/** Oldest first in both lists. */
function netEffects(event: RestoreEvent, findChange: TakeBackInput['findChange']): Map<RelPath, NetEffect> {
  const effects = new Map<RelPath, NetEffect>()
  const effectOf = (path: RelPath): NetEffect => {
    const known = effects.get(path)
    if (known !== undefined) return known
    const fresh: NetEffect = { added: [], removed: [] }
    effects.set(path, fresh)
    return fresh
  }
  const collect = (refs: readonly Pick<ChangeRef, 'path' | 'scan'>[], list: keyof NetEffect): void => {
    for (const { path, scan } of refs) {
      const change = findChange(path, scan)
      if (change !== null) effectOf(path)[list].push(change)
    }
  }
  collect(event.popped, 'removed')
  collect(event.putBack, 'added')
  for (const change of changesOfRestore(event)) effectOf(change.path).added.push(change)
  for (const { added, removed } of effects.values()) {
    added.sort((a, b) => a.scan - b.scan)
    removed.sort((a, b) => a.scan - b.scan)
  }
  return effects
}

/** What came upon the stack since, and says no more than that the path could not be looked at for a while. */
function blinksSince(now: Stack, then: Stack): Change[] {
  if (now.length === then.length) return []
  const known = new Set(then.map((change) => change.scan))
  return now.filter((change) => !known.has(change.scan) && isBlink(now, change))
}

function isSameStack(a: Stack, b: Stack): boolean {
  return a.length === b.length && a.every((change, i) => change.scan === b[i]?.scan)
}

/** Named is the newest change that was not there when the restore ended; none if another restore took some off. */
function whyKept(path: RelPath, now: Stack, then: Stack, session: string | null): KeptPath {
  const known = new Set(then.map((change) => change.scan))
  const newest = now.findLast((change) => !known.has(change.scan))
  if (newest === undefined) return { path, reason: 'changed-after-turn' }
  switch (ownerOf(newest)) {
    case 'shared':
      return keptBecauseOf(newest, 'shared')
    case 'session':
      return keptBecauseOf(
        newest,
        newest.session === session ? 'changed-after-turn' : 'owned-by-other-session',
      )
    case 'person':
      return keptBecauseOf(newest, 'changed-after-turn')
  }
}
