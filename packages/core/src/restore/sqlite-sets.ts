import type { LiveStacks } from '#history/stack.ts'
import type { RelPath } from '#path/rel-path.ts'
import type { State } from '#tree/state.ts'
import { stateIn, type Tree } from '#tree/tree.ts'
import { keptBecauseOf } from './conflict.ts'
import { DATABASE_LOGS, databaseOf } from './database-files.ts'
import type { Decision, Keep, PlanContent, Write } from './decision.ts'
import type { KeptPath } from './report.ts'

const HEAD = 'SQLite format 3\0'

/** What tells which paths are one database. */
export interface SetFacts {
  readonly stacks: LiveStacks
  readonly tree: Tree
  readonly content: PlanContent
}

/** The named paths, and with each file of a database the others of it that have changed. */
export function withWholeSets(paths: readonly RelPath[], facts: SetFacts): RelPath[] {
  const all = new Set(paths)
  for (const path of paths) {
    const base = databaseOf(path)
    for (const member of membersOf(base)) {
      if (member !== path && facts.stacks.has(member) && isDatabase(base, facts)) all.add(member)
    }
  }
  return [...all]
}

/**
 * Keeps the whole of a database of which one file has to be kept: because a decision says so, or because it was
 * changed after what is to be undone and nothing is decided about it.
 */
export function keepSetsTogether(decisions: readonly Decision[], facts: SetFacts): Decision[] {
  const byPath = new Map(decisions.map((decision) => [decision.path, decision]))
  const instead = new Map<RelPath, Keep>()
  for (const base of findBases(byPath, facts)) {
    const writes = membersOf(base).flatMap((path) => {
      const decision = byPath.get(path)
      return decision?.act === 'write' ? [decision] : []
    })
    const kept = writes.length === 0 ? null : findKept(base, byPath, writes, facts)
    if (kept === null || !isDatabase(base, facts)) continue
    for (const write of writes) instead.set(write.path, keepWith(write, kept))
  }
  if (instead.size === 0) return [...decisions]
  return decisions.map((decision) => instead.get(decision.path) ?? decision)
}

/** Databases that the plan writes to, and that have a log beside them. */
function findBases(byPath: ReadonlyMap<RelPath, Decision>, { tree }: SetFacts): Set<RelPath> {
  const bases = new Set<RelPath>()
  for (const [path, { act }] of byPath) {
    if (act !== 'write') continue
    const base = databaseOf(path)
    if (base !== path || DATABASE_LOGS.some((end) => byPath.has(base + end) || tree.has(base + end)))
      bases.add(base)
  }
  return bases
}

function membersOf(base: RelPath): RelPath[] {
  return [base, ...DATABASE_LOGS.map((end) => base + end)]
}

function findKept(
  base: RelPath,
  byPath: ReadonlyMap<RelPath, Decision>,
  writes: readonly Write[],
  { stacks, tree }: SetFacts,
): Pick<KeptPath, 'reason' | 'turn' | 'session'> | null {
  const since = Math.min(...writes.map(oldestScan))
  for (const path of membersOf(base)) {
    const decision = byPath.get(path)
    if (decision?.act === 'keep') return decision.kept
    if (decision?.act === 'skip') return { reason: 'not-captured' }
    if (decision !== undefined || stateIn(tree, path).kind === 'absent') continue
    const top = stacks.get(path)?.at(-1)
    if (top !== undefined && top.scan > since) return keptBecauseOf(top, 'changed-after-turn')
  }
  return null
}

/** The oldest change that is taken off, or, when a restore is taken back, the newest that is put on again. */
function oldestScan({ effect }: Write): number {
  const scans = effect.popped.map((ref) => ref.scan)
  return scans.length > 0 ? Math.min(...scans) : Math.max(...effect.putBack.map((ref) => ref.scan))
}

function keepWith(
  write: Write,
  { reason, turn, session }: Pick<KeptPath, 'reason' | 'turn' | 'session'>,
): Keep {
  const { path, from, to } = write
  const kept = {
    path,
    reason,
    ...(turn === undefined ? {} : { turn }),
    ...(session === undefined ? {} : { session }),
  }
  return { act: 'keep', path, from, wanted: to, kept, isConflict: true }
}

/** By its bytes, now or at any time in the log; one that is too big to be read here is taken for one. */
function isDatabase(base: RelPath, { stacks, tree, content }: SetFacts): boolean {
  const states: State[] = [stateIn(tree, base)]
  for (const { before, after } of stacks.get(base) ?? []) states.push(before, after)
  return states.some((state) => {
    if (state.kind !== 'file' || !content.hasBlob(state.blob)) return false
    const bytes = content.readText(state.blob)
    return bytes === null || String.fromCharCode(...bytes.subarray(0, HEAD.length)) === HEAD
  })
}
