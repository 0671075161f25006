import { readdirSync, readSync } from 'node:fs'
import { DATABASE_LOGS, databaseOf, type RelPath, writeName } from '@turnback/core'
import type { KnownEntry } from '#capture-ports.ts'
import type { Workspace } from '#ports.ts'
import { type Anchoring, type Folder, openFolder, PathBlocked } from './anchored.ts'
import { joinPath } from './disk-name.ts'
import { isSystemError } from './fault.ts'
import { lstatIn, openRegular } from './look.ts'
import type { SeenFolder } from './scan.ts'
import { stampOf } from './stamp.ts'

/**
 * A database in use is several files that belong together: what one of them says holds only with the others as they were
 * at the same moment (sqlite.org/atomiccommit.html, sqlite.org/wal.html). Read while nobody wrote to any of them, they are
 * what a crash at that moment would have left, which SQLite repairs by itself.
 */
const WRITTEN = ['', ...DATABASE_LOGS] as const
/** Changes with every reader, through memory and not by writing; SQLite makes it anew when nobody has the database open. */
const SHARED_MEMORY = '-shm'
const HEAD = Buffer.from('SQLite format 3\0', 'latin1')
/** A database that somebody writes to is tried this often before it is given up for now. */
const TRIES = 3

/** What reads the files of a look, as far as it is needed here. */
export interface SetReader {
  /** Folders in which this look read a file. */
  readonly foldersRead: Iterable<RelPath>
  /** The stamp that a file had when this look read it; null when it did not. */
  stampRead(path: RelPath): string | null
  readAgain(opened: Folder, folder: RelPath, name: string, sizeBytes: number): void
  /** Names a file that can not be had together with those that it belongs to. */
  giveUp(folder: RelPath, name: string, sizeBytes: number | null): void
}

/** Sees to it that what this look read of a database was read at one moment, or that none of it is kept. */
export function settleSqliteSets(
  workspace: Workspace,
  seen: ReadonlyMap<RelPath, SeenFolder>,
  reader: SetReader,
  anchoring: Anchoring,
): void {
  for (const folder of [...reader.foldersRead]) {
    const entries = seen.get(folder)?.entries
    if (entries === undefined) continue
    try {
      using opened = openFolder(workspace, folder, anchoring)
      settleFolder(opened, folder, entries, reader)
    } catch (error) {
      // The folder went away meanwhile, or was closed to us: the next look tells what it is now.
      if (!(error instanceof PathBlocked) && !isSystemError(error)) throw error
    }
  }
}

function settleFolder(
  opened: Folder,
  folder: RelPath,
  entries: Map<string, KnownEntry>,
  reader: SetReader,
): void {
  // Names as they are now: a log that was begun after the walk tells that the database was being written to.
  const names = [...entries.keys(), ...readdirSync(opened.self, 'buffer').map((name) => writeName(name))]
  for (const base of findDatabases(names)) {
    const wasRead = (end: string) =>
      reader.stampRead(joinPath(folder, base + end)) !== null || isTorn(entries.get(base + end))
    if (WRITTEN.some(wasRead) && isDatabase(opened, base)) settleSet(opened, folder, base, entries, reader)
  }
}

function isTorn(entry: KnownEntry | undefined): boolean {
  return entry?.state.kind === 'skipped' && entry.state.reason === 'changed-while-reading'
}

/** Files beside which lies what only a database in use has. */
function findDatabases(names: Iterable<string>): Set<string> {
  const found = new Set<string>()
  for (const name of names) {
    const base = databaseOf(name)
    if (base !== name && base !== '') found.add(base)
  }
  return found
}

/** An empty one has all that it holds in its log still. */
function isDatabase(opened: Folder, name: string): boolean {
  try {
    using file = openRegular(opened, name)
    if (file === null) return false
    const head = Buffer.alloc(HEAD.length)
    const length = readSync(file.fd, head, 0, head.length, 0)
    return length === 0 || head.equals(HEAD)
  } catch (error) {
    if (isSystemError(error)) return false
    throw error
  }
}

function settleSet(
  opened: Folder,
  folder: RelPath,
  base: string,
  entries: Map<string, KnownEntry>,
  reader: SetReader,
): void {
  for (let tries = 0; tries <= TRIES; tries++) {
    if (isOneMoment(opened, folder, base, entries, reader)) return
    if (tries === TRIES) break
    for (const name of WRITTEN.map((end) => base + end)) {
      const sizeBytes = sizeOf(opened, name)
      if (sizeBytes === null) entries.delete(name)
      else reader.readAgain(opened, folder, name, sizeBytes)
    }
  }
  for (const name of [...WRITTEN, SHARED_MEMORY].map((end) => base + end))
    if (entries.has(name)) reader.giveUp(folder, name, sizeOf(opened, name))
}

/** True when every file is still the one that was read, and none came or went. */
function isOneMoment(
  opened: Folder,
  folder: RelPath,
  base: string,
  entries: ReadonlyMap<string, KnownEntry>,
  reader: SetReader,
): boolean {
  return WRITTEN.every((end) => {
    const name = base + end
    const there = lstatIn(opened, name)
    const entry = entries.get(name)
    if (there === null || entry === undefined) return there === null && entry === undefined
    return (
      entry.state.kind === 'file' &&
      stampOf(there) === (reader.stampRead(joinPath(folder, name)) ?? entry.stamp)
    )
  })
}

function sizeOf(opened: Folder, name: string): number | null {
  const there = lstatIn(opened, name)
  return there === null || !there.isFile() ? null : Number(there.size)
}
