import { type BlobId, isSealed, type RelPath, type WorkspaceId } from '@turnback/core'
import type { KnownEntry, LookOptions } from '#capture-ports.ts'
import type { BlobStore, Clock, Config, Home, Workspace } from '#ports.ts'
import type { WorkerYield } from '#store/worker-store.ts'
import { type Anchoring, type Folder, openFolder, PathBlocked } from './anchored.ts'
import { joinPath } from './disk-name.ts'
import type { IgnoreRules } from './ignore-rules.ts'
import { groupByFolder, ReadBatches, type TaskGroup } from './read-batches.ts'
import type { CrewJob, ReadCrew } from './read-crew.ts'
import { lostResult, type ReadResult, readInto } from './read-file.ts'
import type { Batch, BatchFile } from './read-messages.ts'
import { MANY_TASKS, type ReadTask, type Scan } from './scan.ts'
import { isSecretName } from './secret-names.ts'
import { isRacy } from './stamp.ts'

/** The store as threads that read for it need it. */
export interface CrewStore extends BlobStore {
  readonly storeKey: Uint8Array
  idKey(workspace: WorkspaceId): Uint8Array
  handOver(pack: WorkerYield['packs'][number], reliedOn: Iterable<BlobId>): void
  /** What the names of one thread's packs begin with. */
  newPackPrefix(): string
  /** What is recorded next names these, which were stored before: that fails if they are gone by then. */
  relyOn(ids: Iterable<BlobId>): void
  /** Removes packs that were never handed over. */
  abandonPacks(prefix: string): void
}

export interface LookerParts {
  readonly clock: Clock
  readonly config: Config
  readonly home: Home
  readonly blobs: CrewStore
  /** Null to read everything here. */
  readonly crew: ReadCrew | null
}

/** What one reading stands on: a finished walk, and where bytes go. */
export interface Reading {
  readonly parts: LookerParts
  readonly scan: Scan
  readonly rules: IgnoreRules
  readonly workspace: Workspace
  readonly options: LookOptions
  readonly startNs: bigint
}

/** What is read here is read at once; threads are asked for more than that, and for more still if none run yet. */
const FEW = { files: 64, bytes: 4 * 1024 * 1024 }
const FEW_WHEN_COLD = { files: MANY_TASKS - 1, bytes: 16 * 1024 * 1024 }

/** True when reading by threads is faster, with what starting them takes. */
function isForCrew(tasks: readonly ReadTask[], isWarm: boolean): boolean {
  const few = isWarm ? FEW : FEW_WHEN_COLD
  return tasks.length > few.files || tasks.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) > few.bytes
}

/** Reads the files that a scan found to be new into the store, folder by folder. */
export class Reader {
  readonly #reading: Reading
  readonly sealed: RelPath[] = []
  readonly foldersRead = new Set<RelPath>()
  hashed = 0
  overBudget = 0
  unreadable = 0
  #filesDone = 0
  #bytesDone = 0
  readonly #toSeal = new Set<ReadTask>()
  /** As files were when they were read, also where that proves nothing later. */
  readonly #stamps = new Map<RelPath, string>()
  /** Folders of which something was read since the last slice. */
  #unsaved = new Set<RelPath>()

  constructor(reading: Reading) {
    this.#reading = reading
  }

  async readAll(anchoring: Anchoring): Promise<void> {
    const { scan, parts } = this.#reading
    const { crew } = parts
    const tasks = scan.tasks.filter((task) => !this.#isReadAlready(task))
    if (crew !== null && isForCrew(tasks, crew.isWarm)) {
      await this.#readByCrew(crew, tasks, anchoring)
      return
    }
    this.#readHere(tasks, anchoring)
    if (crew !== null && isForCrew(tasks, true)) crew.missed()
  }

  /** Takes what was read of a file before, when it is the same still and its bytes are still here. */
  #isReadAlready(task: ReadTask): boolean {
    const { options, parts } = this.#reading
    const { folder, name, stamp } = task
    const ahead = options.ahead?.(folder, name) ?? null
    if (ahead === null || ahead.stamp !== stamp || ahead.state.kind !== 'file') return false
    const { blob } = ahead.state
    const sealed = this.#isSealed(joinPath(folder, name), task)
    if (isSealed(blob) !== sealed || !parts.blobs.has(blob)) return false
    parts.blobs.relyOn([blob])
    if (sealed) this.#toSeal.add(task)
    this.#put(task, { state: ahead.state, wasRead: false, stamp, changedNs: 0n })
    return true
  }

  #readHere(all: readonly ReadTask[], anchoring: Anchoring): void {
    const { workspace } = this.#reading
    for (const [folder, tasks] of groupByFolder(all)) {
      if (this.#isLate()) {
        this.overBudget += tasks.length
        continue
      }
      try {
        using opened = openFolder(workspace, folder, anchoring)
        for (const task of tasks) this.#readTask(opened, task)
      } catch (error) {
        if (!(error instanceof PathBlocked)) throw error
        // The folder went away or became a link since the walk; the next scan tells what it is now.
        for (const task of tasks) this.#put(task, lostResult(task))
      }
    }
  }

  #readTask(opened: Folder, task: ReadTask): void {
    if (this.#isLate()) {
      this.overBudget++
      return
    }
    const { workspace, parts } = this.#reading
    this.#put(task, readInto(parts.blobs, opened, { workspace: workspace.id, ...this.#toRequest(task) }))
  }

  async #readByCrew(crew: ReadCrew, tasks: readonly ReadTask[], anchoring: Anchoring): Promise<void> {
    const { parts, workspace, options } = this.#reading
    const { blobs } = parts
    const batches = new ReadBatches(tasks)
    const groupsOf = new Map<Batch, readonly TaskGroup[]>()
    const prefixes: string[] = []
    const job: CrewJob = {
      facts: () => {
        const packPrefix = blobs.newPackPrefix()
        prefixes.push(packPrefix)
        const keys = { storeKey: blobs.storeKey, idKey: blobs.idKey(workspace.id) }
        const { root, device, inode } = workspace
        return {
          tree: { root, device, inode },
          workspace: workspace.id,
          anchoring,
          store: { store: parts.home.store, ...keys, packPrefix },
        }
      },
      next: () => {
        const groups = this.#isLate() ? null : batches.next()
        if (groups === null) return null
        const batch = this.#toBatch(groups)
        groupsOf.set(batch, groups)
        return batch
      },
      take: (batch, results) => {
        const groups = groupsOf.get(batch) ?? []
        groupsOf.delete(batch)
        batches.done(groups)
        const read = groups.flatMap((group) => group.tasks)
        read.forEach((task, i) => {
          const result = results[i] ?? null
          if (result !== null) this.#put(task, result)
        })
        options.first?.onProgress(this.#progress())
      },
      isSliceDue: () => this.#unsaved.size > 0 && options.first?.isSliceDue() === true,
      slice: (written, isLast) => {
        for (const { packs, reliedOn } of written)
          packs.forEach((pack, i) => {
            blobs.handOver(pack, i === 0 ? reliedOn : [])
          })
        if (!isLast) this.#saveSlice()
      },
    }
    try {
      await crew.run(job)
    } catch (error) {
      for (const prefix of prefixes) blobs.abandonPacks(prefix)
      throw error
    }
    this.overBudget = this.#reading.scan.tasks.length - this.#filesDone
  }

  #saveSlice(): void {
    const { options, scan } = this.#reading
    const files = new Map<RelPath, ReadonlyMap<string, KnownEntry>>()
    for (const folder of this.#unsaved) {
      const seen = scan.seen.get(folder)
      if (seen !== undefined) files.set(folder, seen.entries)
    }
    this.#unsaved = new Set()
    options.first?.save(files)
  }

  #toBatch(groups: readonly TaskGroup[]): Batch {
    const { options, parts } = this.#reading
    const leftMs = options.deadlineMs === null ? null : options.deadlineMs - parts.clock.nowMs()
    const folders = groups.map(({ folder, tasks }) => ({
      folder,
      files: tasks.map((task) => this.#toRequest(task)),
    }))
    return { folders, leftMs }
  }

  #toRequest(task: ReadTask): BatchFile {
    const { name, sizeBytes, folder } = task
    const sealed = this.#isSealed(joinPath(folder, name), task)
    if (sealed) this.#toSeal.add(task)
    const known = task.known?.state.kind === 'file' ? task.known.state.blob : null
    const kept: KnownEntry | null = this.#reading.options.first?.find(folder, name) ?? null
    return { name, sealed, known, sizeBytes, kept }
  }

  #put(task: ReadTask, result: ReadResult): void {
    const { scan, startNs } = this.#reading
    const { state } = result
    const path = joinPath(task.folder, task.name)
    this.#filesDone++
    this.#bytesDone += task.sizeBytes
    if (result.wasRead) this.hashed++
    const stamp = isRacy(result.changedNs, startNs) ? '' : result.stamp
    scan.seen.get(task.folder)?.entries.set(task.name, { state, stamp })
    if (result.changedNs > 0n) scan.changedNs.set(path, result.changedNs)
    if (result.stamp !== '') this.#stamps.set(path, result.stamp)
    this.foldersRead.add(task.folder)
    if (this.#toSeal.has(task)) this.sealed.push(path)
    this.#unsaved.add(task.folder)
    if (state.kind !== 'skipped') return
    if (state.reason === 'unreadable') this.unreadable++
    scan.skipped.push({ path, reason: state.reason, sizeBytes: task.sizeBytes })
  }

  stampRead(path: RelPath): string | null {
    return this.#stamps.get(path) ?? null
  }

  readAgain(opened: Folder, folder: RelPath, name: string, sizeBytes: number): void {
    const { workspace, parts, scan } = this.#reading
    const task = {
      folder,
      name,
      sizeBytes,
      stamp: '',
      known: scan.seen.get(folder)?.entries.get(name) ?? null,
    }
    const request = { workspace: workspace.id, ...this.#toRequest(task), kept: null }
    this.#dropSkipped(joinPath(folder, name))
    this.#put(task, readInto(parts.blobs, opened, request))
  }

  giveUp(folder: RelPath, name: string, sizeBytes: number | null): void {
    const { scan } = this.#reading
    const path = joinPath(folder, name)
    const why = { reason: 'unsafe-live' as const, ...(sizeBytes === null ? {} : { sizeBytes }) }
    this.#dropSkipped(path)
    scan.seen.get(folder)?.entries.set(name, { state: { kind: 'skipped', ...why }, stamp: '' })
    scan.skipped.push({ path, ...why })
  }

  #dropSkipped(path: RelPath): void {
    const { skipped } = this.#reading.scan
    const at = skipped.findIndex((each) => each.path === path)
    if (at >= 0) skipped.splice(at, 1)
  }

  #progress() {
    const { tasks } = this.#reading.scan
    return { files: this.#filesDone, bytes: this.#bytesDone, ofFiles: tasks.length }
  }

  #isSealed(path: RelPath, task: ReadTask): boolean {
    const { options, rules } = this.#reading
    return options.isSealed(path) || isSecretName(task.name) || rules.isIgnored(task.folder, task.name, false)
  }

  #isLate(): boolean {
    const { options, parts } = this.#reading
    return options.deadlineMs !== null && parts.clock.nowMs() > options.deadlineMs
  }
}
