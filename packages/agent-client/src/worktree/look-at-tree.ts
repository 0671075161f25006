import { lstatSync, realpathSync } from 'node:fs'
import {
  ABSENT,
  DomainError,
  nothingToRecord,
  parentOf,
  type RelPath,
  type SkippedPath,
  type State,
} from '@turnback/core'
import type {
  Difference,
  KnownEntry,
  KnownFolder,
  KnownTree,
  LookOptions,
  Observation,
  TreeLooker,
} from '#capture-ports.ts'
import type { Workspace } from '#ports.ts'
import { findAnchoring } from './anchored.ts'
import { joinPath } from './disk-name.ts'
import { IgnoreRules } from './ignore-rules.ts'
import { type LookerParts, Reader } from './reader.ts'
import { Scan, type SeenFolder } from './scan.ts'
import { settleSqliteSets } from './sqlite-sets.ts'
import { knownBelow } from './where-to-look.ts'

const NS_PER_MS = 1_000_000n

/** Looks at whole trees: walks, reads what is new into the store, and says what differs from what was known. */
export function createTreeLooker(parts: LookerParts): TreeLooker {
  const anchoring = findAnchoring()
  const ours = new Set(
    [parts.home.config, parts.home.store, parts.home.keys, parts.home.logs].map(realPathOf),
  )
  return {
    async look(workspace, known, options) {
      const startNs = BigInt(Math.floor(parts.clock.nowMs())) * NS_PER_MS
      const rules = new IgnoreRules(workspace.root)
      const scan = new Scan(workspace, known, options, {
        config: parts.config,
        rules,
        startNs,
        nowMs: () => parts.clock.nowMs(),
        ours,
        onMany: () => parts.crew?.start(),
      })
      confirmRoot(workspace)
      scan.run()
      const reader = new Reader({ parts, scan, rules, workspace, options, startNs })
      await reader.readAll(anchoring)
      settleSqliteSets(workspace, scan.seen, reader, anchoring)
      return observe(scan, reader, known, options, rules)
    },
  }
}

/** The path must still lead to the directory that was registered. */
function confirmRoot(workspace: Workspace): void {
  const there = lstatSync(workspace.root, { bigint: true, throwIfNoEntry: false })
  const isSame = String(there?.dev) === workspace.device && String(there?.ino) === workspace.inode
  if (!isSame) throw new DomainError('NO_WORKSPACE', { root: workspace.root })
}

function realPathOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    // Not there yet: nothing can lie below it.
    return path
  }
}

function observe(
  scan: Scan,
  reader: Reader,
  known: KnownTree,
  options: LookOptions,
  rules: IgnoreRules,
): Observation {
  const differences: Difference[] = []
  const folders = new Map<RelPath, KnownFolder | null>()
  let files = 0
  let bytes = 0
  const skipped: SkippedPath[] = [...scan.skipped]
  for (const [folder, seen] of scan.seen) {
    const before = known.get(folder)
    for (const [name, { state }] of seen.entries) {
      if (state.kind === 'file') {
        files++
        bytes += state.sizeBytes
      } else if (state.kind === 'skipped' && state.reason === 'budget') {
        skipped.push({ path: joinPath(folder, name), reason: 'budget' })
      }
    }
    if (before !== undefined && isSameFolder(before, seen)) continue
    folders.set(folder, seen)
    const sinceNs = before === undefined ? latestMove(folder, known, scan) : 0n
    compareFolder(folder, before, seen, sinceNs, scan, differences)
  }
  for (const folder of scan.whole.has('') ? known.keys() : listBelow(known, scan.whole)) {
    const before = known.get(folder)
    if (before !== undefined && !scan.seen.has(folder))
      forgetFolder(folder, before, scan, folders, differences)
  }
  return {
    differences: options.isFirst
      ? []
      : differences.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0)),
    folders,
    skipped: skipped.sort((a, b) => (a.path < b.path ? -1 : 1)),
    sealed: reader.sealed,
    files,
    bytes,
    statted: scan.statted,
    hashed: reader.hashed,
    incomplete: describe(scan, reader, rules),
  }
}

function* listBelow(known: KnownTree, folders: ReadonlySet<RelPath>): Generator<RelPath> {
  for (const folder of folders) yield* knownBelow(known, folder)
}

function isSameFolder(known: KnownFolder, seen: SeenFolder): boolean {
  if (known.stamp !== seen.stamp || known.unlisted !== seen.unlisted) return false
  if (known.entries.size !== seen.entries.size) return false
  for (const [name, entry] of seen.entries) if (known.entries.get(name) !== entry) return false
  return true
}

/** @param sinceNs nothing that came with the folder was here before */
function compareFolder(
  folder: RelPath,
  known: KnownFolder | undefined,
  seen: SeenFolder,
  sinceNs: bigint,
  scan: Scan,
  into: Difference[],
): void {
  for (const [name, { state }] of seen.entries) {
    const before = known?.entries.get(name)?.state ?? seen.missing
    const path = joinPath(folder, name)
    if (!nothingToRecord(before, state)) {
      const ownNs = scan.changedNs.get(path) ?? seen.changedNs
      into.push({ path, before, after: state, changedMs: toMs(ownNs > sinceNs ? ownNs : sinceNs) })
    }
  }
  for (const [name, { state }] of known?.entries ?? new Map<string, KnownEntry>()) {
    if (!seen.entries.has(name)) {
      into.push({
        path: joinPath(folder, name),
        before: state,
        after: ABSENT,
        changedMs: toMs(seen.changedNs),
      })
    }
  }
}

/** When a folder that is new came here with all that is in it; 0 when that cannot be told. */
function latestMove(folder: RelPath, known: KnownTree, scan: Scan): bigint {
  let latest = 0n
  for (let at = folder; at !== '' && !known.has(at); at = parentOf(at)) {
    const movedNs = scan.seen.get(at)?.movedNs ?? 0n
    if (movedNs > latest) latest = movedNs
  }
  return latest
}

/** A folder that was known and was not walked: gone, left out from now on, or below one that is closed to us. */
function forgetFolder(
  folder: RelPath,
  known: KnownFolder,
  scan: Scan,
  folders: Map<RelPath, KnownFolder | null>,
  into: Difference[],
): void {
  for (let at = folder; ; at = parentOf(at)) {
    if (scan.closed.has(at)) return
    if (at === '') break
  }
  folders.set(folder, null)
  const after = shutBy(folder, scan) ?? ABSENT
  const changedMs = toMs(nearestChange(folder, scan))
  for (const [name, { state }] of known.entries) {
    if (!nothingToRecord(state, after))
      into.push({ path: joinPath(folder, name), before: state, after, changedMs })
  }
}

function shutBy(folder: RelPath, scan: Scan): State | null {
  for (let at = folder; at !== ''; at = parentOf(at)) {
    const reason = scan.shut.get(at)
    if (reason !== undefined) return { kind: 'skipped', reason }
  }
  return null
}

function nearestChange(folder: RelPath, scan: Scan): bigint {
  for (let at = parentOf(folder); ; at = parentOf(at)) {
    const seen = scan.seen.get(at)
    if (seen !== undefined) return seen.changedNs
    if (at === '') return 0n
  }
}

function toMs(ns: bigint): number {
  return Number(ns / NS_PER_MS)
}

function describe(scan: Scan, reader: Reader, rules: IgnoreRules): string | null {
  const closed = scan.unreadable + reader.unreadable
  const parts = [
    closed === 0 ? null : `${closed} path(s) could not be read`,
    reader.overBudget === 0 ? null : `${reader.overBudget} file(s) were not read in the time given`,
    rules.unreadable === 0
      ? null
      : `${rules.unreadable} ignore file(s) could not be read: what lies below is sealed`,
  ].filter((part) => part !== null)
  return parts.length === 0 ? null : parts.join('; ')
}
