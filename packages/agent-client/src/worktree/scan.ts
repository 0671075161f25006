import { type BigIntStats, lstatSync, readlinkSync } from 'node:fs'
import {
  ABSENT,
  isGitDisguise,
  parentOf,
  type RelPath,
  type SkippedPath,
  type SkipReason,
  type State,
  writeName,
} from '@turnback/core'
import {
  type ChangedNames,
  type KnownEntry,
  type KnownFolder,
  type KnownTree,
  type LookOptions,
  LookTooLate,
} from '#capture-ports.ts'
import type { Config, Workspace } from '#ports.ts'
import { type DiskPath, joinName, joinPath, listNames } from './disk-name.ts'
import { isExcluded, same, stateBelow, unknownBecause } from './entry.ts'
import { Budget, countBelow, hasCacheTag, isAmbiguous, isGenerated } from './excluded.ts'
import { isSystemError } from './fault.ts'
import type { IgnoreRules } from './ignore-rules.ts'
import { modeOf } from './look.ts'
import { ReadQuota } from './read-quota.ts'
import { isSecretName } from './secret-names.ts'
import { isRacy, movedNsOf, stampOf } from './stamp.ts'
import { parseTempName } from './temp-name.ts'
import { howChanged, placesToLook } from './where-to-look.ts'

/** Time that one scan may spend on counting what it leaves out; looking at the tree itself is not part of it. */
const COUNT_MS = 2000

/** So many files to read are worth threads, also when those must be started first. */
export const MANY_TASKS = 512

/** A file whose bytes are to be read: it is new, or its stamp is not the known one. */
export interface ReadTask {
  readonly folder: RelPath
  readonly name: string
  readonly sizeBytes: number
  /** As the walk saw it. */
  readonly stamp: string
  readonly known: KnownEntry | null
}

export interface SeenFolder {
  readonly stamp: string
  readonly unlisted: boolean
  readonly entries: Map<string, KnownEntry>
  /** What a name that was not known before was until now: absent, or not known. */
  readonly missing: State
  readonly changedNs: bigint
  /** When it came to its place or got its mode, if that is the last that happened to it; else 0. */
  readonly movedNs: bigint
}

/**
 * One walk over a tree, or over what of it is said to have changed. Looks at every path that counts, reads no file: what
 * is to be read is in `tasks`.
 */
export class Scan {
  readonly seen = new Map<RelPath, SeenFolder>()
  /** Folders below which everything was looked at: what is known there and was not seen is gone. */
  readonly whole = new Set<RelPath>()
  readonly tasks: ReadTask[] = []
  readonly skipped: SkippedPath[] = []
  /** Directories that are not looked into, with the reason: nothing is known of what lies below. */
  readonly shut = new Map<RelPath, SkipReason>()
  /** Directories whose names could not be read: what is known of them stays as it was. */
  readonly closed = new Set<RelPath>()
  readonly changedNs = new Map<RelPath, bigint>()
  statted = 0
  unreadable = 0

  readonly #workspace: Workspace
  readonly #known: KnownTree
  readonly #options: LookOptions
  readonly #config: Config
  readonly #rules: IgnoreRules
  readonly #startNs: bigint
  readonly #ours: ReadonlySet<string>
  readonly #onMany: () => void
  readonly #nowMs: () => number
  #countLeftMs = COUNT_MS
  readonly #quota: ReadQuota
  readonly #include: ReadonlySet<RelPath>

  constructor(
    workspace: Workspace,
    known: KnownTree,
    options: LookOptions,
    parts: {
      config: Config
      rules: IgnoreRules
      startNs: bigint
      nowMs: () => number
      ours: ReadonlySet<string>
      /** Called once when many files are to be read, while the walk goes on. */
      onMany: () => void
    },
  ) {
    this.#workspace = workspace
    this.#known = known
    this.#options = options
    this.#quota = new ReadQuota(options.readAtMost)
    this.#config = parts.config
    this.#rules = parts.rules
    this.#startNs = parts.startNs
    this.#ours = parts.ours
    this.#nowMs = parts.nowMs
    this.#onMany = parts.onMany
    this.#include = new Set(parts.config.include)
  }

  run(): void {
    const { root } = this.#workspace
    const { changed } = this.#options
    if (changed === null) {
      this.whole.add('')
      this.#walk('', root, lstatSync(root, { bigint: true }), { missing: ABSENT, budget: null, names: null })
      return
    }
    const lstatOrNull = (at: DiskPath) => {
      const there = this.#lstat(at)
      // One that may not be looked at is found again from its parent.
      return typeof there === 'string' ? null : there
    }
    for (const place of placesToLook(root, this.#known, changed, lstatOrNull)) {
      const { folder, disk, stat, names } = place
      if (!this.#isSeenWhole(folder)) this.#walk(folder, disk, stat, { missing: ABSENT, budget: null, names })
    }
  }

  #giveUpIfLate(): void {
    const { giveUpMs } = this.#options
    if (giveUpMs !== null && this.#nowMs() > giveUpMs) throw new LookTooLate()
  }

  #isSeenWhole(folder: RelPath): boolean {
    for (let at = folder; ; at = parentOf(at)) {
      if (this.whole.has(at)) return true
      if (at === '') return false
    }
  }

  #walk(folder: RelPath, disk: DiskPath, stat: BigIntStats, { missing, budget, names: only }: Walk): void {
    this.#giveUpIfLate()
    this.#options.watching?.cover(folder, disk, stat.dev, only === null)
    const known = this.#known.get(folder)
    const stamp = this.#keepStamp(stat)
    const names = this.#listFolder(folder, disk, known, stampOf(stat))
    if (names === null) {
      this.#keepAsKnown(folder, stat, missing)
      return
    }
    const was = known === undefined ? missing : known.unlisted ? unknownBecause('unreadable') : ABSENT
    const entries = new Map<string, KnownEntry>()
    const times = { changedNs: stat.ctimeNs, movedNs: movedNsOf(stat) }
    this.seen.set(folder, { stamp, unlisted: false, entries, missing: was, ...times })
    for (const name of names) {
      if (budget?.isSpent === true) return
      const before = known?.entries.get(name) ?? null
      const how = only === null || before === null ? 'replaced' : howChanged(only, name)
      if (before !== null && how === undefined) {
        entries.set(name, before)
        continue
      }
      const path = joinPath(folder, name)
      const at = joinName(disk, name)
      const there = this.#lstat(at)
      if (there === 'closed') {
        // Names may be read and nothing else: the same as if they could not.
        this.#noteClosed(folder)
        this.#keepAsKnown(folder, stat, missing)
        return
      }
      if (there === null || this.#isOurs(folder, name, at)) continue
      if (there === 'unreadable') {
        const entry = same(before, unknownBecause('unreadable'))
        this.unreadable++
        // If it is a folder still, what lies in it is no more known than itself.
        this.shut.set(path, 'unreadable')
        entries.set(name, entry)
        this.#noteSkipped(path, entry)
        continue
      }
      const isShallow = how === 'changed'
      const entry = this.#lookAt({ folder, name, path, at, stat: there, before, isShallow }, was, budget)
      entries.set(name, entry)
      this.changedNs.set(path, there.ctimeNs)
      if (entry.state.kind === 'skipped') this.#noteSkipped(path, entry)
    }
    if (only !== null && known !== undefined) this.#noteWhole(folder, known, entries, only)
  }

  /** Nothing below it is known to have changed, or to be absent. */
  #keepAsKnown(folder: RelPath, stat: BigIntStats, missing: State): void {
    const entries = new Map(this.#known.get(folder)?.entries)
    const times = { changedNs: stat.ctimeNs, movedNs: movedNsOf(stat) }
    this.seen.set(folder, { stamp: '', unlisted: true, entries, missing, ...times })
  }

  /** What was a folder and is none now, or was looked at again with all below it, is known to be seen whole. */
  #noteWhole(
    folder: RelPath,
    known: KnownFolder,
    entries: ReadonlyMap<string, KnownEntry>,
    names: ChangedNames,
  ): void {
    for (const [name, { state }] of known.entries) {
      if (state.kind !== 'dir') continue
      const isFolder = entries.get(name)?.state.kind === 'dir'
      if (!isFolder || howChanged(names, name) === 'replaced') this.whole.add(joinPath(folder, name))
    }
  }

  #lookAt(item: Item, was: State, budget: Budget | null): KnownEntry {
    const { stat, name, folder } = item
    // Whatever a file system may take for `.git` is never looked into and never written.
    if (isGitDisguise(name))
      return same(item.before, unknownBecause(name === '.git' ? 'nested-git-dir' : 'special-file'))
    if (stat.isDirectory()) return this.#lookAtFolder(item, was, budget)
    if (stat.isSymbolicLink()) return this.#lookAtLink(item)
    if (!stat.isFile()) return same(item.before, unknownBecause('special-file'))
    const sizeBytes = Number(stat.size)
    budget?.take(sizeBytes)
    const known =
      item.before?.state.kind === 'file' || item.before?.state.kind === 'skipped' ? item.before : null
    const tooLarge =
      sizeBytes > this.#config.maxFileBytes && !isSecretName(name) && !this.#include.has(item.path)
    if (tooLarge) return same(known, { kind: 'skipped', reason: 'too-large', sizeBytes })
    const stamp = stampOf(stat)
    if (known?.state.kind === 'file' && known.stamp !== '' && known.stamp === stamp) return known
    if (this.#quota.takes(sizeBytes)) {
      this.tasks.push({ folder, name, sizeBytes, stamp, known: item.before })
      if (this.tasks.length === MANY_TASKS) this.#onMany()
    }
    // Stands there until the bytes are read.
    return { state: { kind: 'skipped', reason: 'budget', sizeBytes }, stamp: '' }
  }

  #lookAtLink(item: Item): KnownEntry {
    const stamp = this.#keepStamp(item.stat)
    if (item.before?.state.kind === 'symlink' && stamp !== '' && item.before.stamp === stamp)
      return item.before
    try {
      return { state: { kind: 'symlink', target: writeName(readlinkSync(item.at, 'buffer')) }, stamp }
    } catch (error) {
      const isGone = isSystemError(error) && (error.code === 'ENOENT' || error.code === 'EINVAL')
      if (!isGone) this.unreadable++
      return { state: unknownBecause(isGone ? 'changed-while-reading' : 'unreadable'), stamp: '' }
    }
  }

  #lookAtFolder(item: Item, was: State, budget: Budget | null): KnownEntry {
    const { path, at, stat, before } = item
    const reason = this.#reasonToLeaveOut(item, budget)
    if (reason !== null) return this.#leaveOut(item, reason)
    if (item.isShallow && before?.state.kind === 'dir') {
      const entry = same(before, { kind: 'dir', mode: modeOf(stat) })
      return before.watched === true && entry.watched !== true ? { ...entry, watched: true } : entry
    }
    const isNew = before === null
    const watch = before?.watched ?? (isNew && isAmbiguous(item.name) && !this.#options.isFirst)
    const missing = before === null ? was : stateBelow(before.state)
    if (!watch) {
      this.#walk(path, at, stat, { missing, budget, names: null })
      return same(before, { kind: 'dir', mode: modeOf(stat) })
    }
    const inner = new Budget(budget)
    const mark = this.#mark()
    this.#walk(path, at, stat, { missing, budget: inner, names: null })
    if (!inner.isSpent) {
      const entry = same(before, { kind: 'dir', mode: modeOf(stat) })
      return entry.watched === true ? entry : { ...entry, watched: true }
    }
    this.#forget(path, mark)
    return this.#leaveOut(item, 'excluded-directory')
  }

  #reasonToLeaveOut({ name, path, at, folder, before }: Item, budget: Budget | null): SkipReason | null {
    if (typeof at === 'string' && this.#options.nested.has(at)) return 'nested-workspace'
    if (this.#include.has(path)) return null
    if (isGenerated(name)) return 'excluded-directory'
    if (!isAmbiguous(name) || budget !== null) return null
    // The choice is made once per directory and remembered.
    if (before !== null) return isExcluded(before.state) ? 'excluded-directory' : null
    const isIgnored = this.#options.isFirst && this.#rules.isSurelyIgnored(folder, name, true)
    return isIgnored || hasCacheTag(at) ? 'excluded-directory' : null
  }

  #leaveOut({ path, at, stat, before }: Item, reason: SkipReason): KnownEntry {
    this.shut.set(path, reason)
    const entry = same(before, unknownBecause(reason))
    if (reason !== 'excluded-directory') return entry
    const stamp = stampOf(stat)
    if (entry.below?.at === stamp) return entry
    const below = this.#options.countExcluded ? this.#count(at) : null
    if (below !== null) return { ...entry, below: { ...below, at: stamp } }
    return entry.below === undefined ? entry : { state: entry.state, stamp: '' }
  }

  #count(at: DiskPath): { count: number; sizeBytes: number } | null {
    const startMs = performance.now()
    const below = countBelow(at, startMs + this.#countLeftMs)
    this.#countLeftMs -= performance.now() - startMs
    return below
  }

  #listFolder(
    folder: RelPath,
    disk: DiskPath,
    known: KnownFolder | undefined,
    stamp: string,
  ): string[] | null {
    if (known !== undefined && known.stamp !== '' && known.stamp === stamp) return [...known.entries.keys()]
    try {
      return listNames(disk)
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
      this.#noteClosed(folder)
      return null
    }
  }

  #noteClosed(folder: RelPath): void {
    this.closed.add(folder)
    this.unreadable++
    if (folder !== '') this.skipped.push({ path: folder, reason: 'unreadable' })
  }

  /** Null when nothing is there; `closed` when the folder does not let us look at what it holds. */
  #lstat(at: DiskPath): BigIntStats | null | 'closed' | 'unreadable' {
    this.statted++
    try {
      return lstatSync(at, { bigint: true, throwIfNoEntry: false }) ?? null
    } catch (error) {
      if (!isSystemError(error)) throw error
      return error.code === 'EACCES' ? 'closed' : 'unreadable'
    }
  }

  /** `.git` of the root, our own folders and what a restore of ours has not finished are no part of the tree. */
  #isOurs(folder: RelPath, name: string, at: DiskPath): boolean {
    if (folder === '' && name === '.git') return true
    if (name.startsWith('.turnback-') && parseTempName(name) !== null) return true
    return typeof at === 'string' && this.#ours.has(at)
  }

  #keepStamp(stat: BigIntStats): string {
    return isRacy(stat.ctimeNs, this.#startNs) ? '' : stampOf(stat)
  }

  #noteSkipped(path: RelPath, { state, below }: KnownEntry): void {
    if (state.kind !== 'skipped' || state.reason === 'budget') return
    const sizeBytes = below?.sizeBytes ?? state.sizeBytes
    this.skipped.push({
      path,
      reason: state.reason,
      ...(sizeBytes === undefined ? {} : { sizeBytes }),
      ...(below === undefined ? {} : { count: below.count }),
    })
  }

  #mark(): { tasks: number; skipped: number } {
    return { tasks: this.tasks.length, skipped: this.skipped.length }
  }

  /** Takes back what was seen below a directory that turned out to be left out. */
  #forget(path: RelPath, mark: { tasks: number; skipped: number }): void {
    this.tasks.length = mark.tasks
    this.skipped.length = mark.skipped
    for (const folder of [...this.seen.keys()]) {
      if (folder === path || folder.startsWith(`${path}/`)) this.seen.delete(folder)
    }
  }
}

interface Walk {
  /** What a folder that was not known before was until now: absent, or not known. */
  readonly missing: State
  /** What the nearest watched directory around may still hold, or null. */
  readonly budget: Budget | null
  /** The names that count; null for all, with all below them. */
  readonly names: ChangedNames | null
}

interface Item {
  readonly folder: RelPath
  readonly name: string
  readonly path: RelPath
  readonly at: DiskPath
  readonly stat: BigIntStats
  readonly before: KnownEntry | null
  /** A folder that is known: what lies in it is looked at on its own, or not at all. */
  readonly isShallow: boolean
}
