import type { RelPath } from '#path/rel-path.ts'
import { utf8Bytes } from '#text/bytes.ts'
import type { Digest } from '#text/digest.ts'
import { equalStates, type State } from '#tree/state.ts'
import type { RestorePlan } from './restore-plan.ts'

/** What git says at the moment of the plan; both null in a folder without git. */
export interface HeadFacts {
  readonly head: string | null
  readonly branch: string | null
}

/**
 * The bytes that a token is the hash of: the whole plan, which holds the kind, bytes (by blob id), mode or link
 * target of each of its paths, with HEAD and branch. Turns that have nothing to do with the plan are not in it.
 */
export function tokenBytes(plan: RestorePlan, head: HeadFacts): Uint8Array {
  return utf8Bytes(`turnback.plan/1\n${canonicalJson({ plan, head: head.head, branch: head.branch })}`)
}

/** The token of a preview: hex SHA-256 of {@link tokenBytes}. */
export function planToken(plan: RestorePlan, head: HeadFacts, sha256: Digest): string {
  return sha256(tokenBytes(plan, head))
}

/**
 * The paths that two plans do not see alike, or would not treat alike: what a person is told when a token is
 * stale. Sorted.
 */
export function changedPaths(then: RestorePlan, now: RestorePlan): RelPath[] {
  const before = new Map<RelPath, State>(then.seen.map((item) => [item.path, item.state]))
  const changed = new Set<RelPath>()
  for (const { path, state } of now.seen) {
    const old = before.get(path)
    before.delete(path)
    if (old === undefined || !isSameSight(old, state)) changed.add(path)
  }
  for (const path of before.keys()) changed.add(path)
  const steps = new Map(then.steps.map((step) => [step.path, canonicalJson(step)]))
  for (const step of now.steps) {
    if (steps.get(step.path) !== canonicalJson(step)) changed.add(step.path)
    steps.delete(step.path)
  }
  for (const path of steps.keys()) changed.add(path)
  return [...changed].sort()
}

function isSameSight(a: State, b: State): boolean {
  if (a.kind === 'skipped' && b.kind === 'skipped') return a.reason === b.reason
  return equalStates(a, b)
}

/** JSON with the keys of every object in order, so that equal values have equal bytes. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const parts: string[] = []
    for (const [key, item] of Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) {
      if (item !== undefined) parts.push(`${JSON.stringify(key)}:${canonicalJson(item)}`)
    }
    return `{${parts.join(',')}}`
  }
  return JSON.stringify(value ?? null)
}
