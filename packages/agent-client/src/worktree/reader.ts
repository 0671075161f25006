import type { RelPath, State } from '@turnback/core'
import type { LookOptions } from '#capture-ports.ts'
import type { BlobStore, Clock, Config, Home, Workspace } from '#ports.ts'
import { type Folder, type findAnchoring, openFolder, PathBlocked } from './anchored.ts'
import { joinPath } from './disk-name.ts'
import type { IgnoreRules } from './ignore-rules.ts'
import { type ReadResult, readInto } from './read-file.ts'
import type { ReadTask, Scan } from './scan.ts'
import { isSecretName } from './secret-names.ts'
import { isRacy } from './stamp.ts'

export interface LookerParts {
  readonly clock: Clock
  readonly config: Config
  readonly home: Home
  readonly blobs: BlobStore
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

/** Reads the files that a scan found to be new into the store, folder by folder. */
export class Reader {
  readonly #reading: Reading
  readonly sealed: RelPath[] = []
  hashed = 0
  overBudget = 0
  unreadable = 0

  constructor(reading: Reading) {
    this.#reading = reading
  }

  readAll(anchoring: ReturnType<typeof findAnchoring>): void {
    const { scan, workspace } = this.#reading
    for (const [folder, tasks] of groupByFolder(scan.tasks)) {
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
        for (const task of tasks) this.#put(task, lost(task))
      }
    }
  }

  #readTask(opened: Folder, task: ReadTask): void {
    if (this.#isLate()) {
      this.overBudget++
      return
    }
    const { workspace, parts } = this.#reading
    const path = joinPath(task.folder, task.name)
    const sealed = this.#isSealed(path, task)
    if (sealed) this.sealed.push(path)
    const known = task.known?.state.kind === 'file' ? task.known.state.blob : null
    this.hashed++
    const request = { workspace: workspace.id, name: task.name, sealed, known, sizeBytes: task.sizeBytes }
    this.#put(task, readInto(parts.blobs, opened, request))
  }

  #put(task: ReadTask, result: ReadResult): void {
    const { scan, startNs } = this.#reading
    const { state } = result
    const path = joinPath(task.folder, task.name)
    const stamp = isRacy(result.changedNs, startNs) ? '' : result.stamp
    scan.seen.get(task.folder)?.entries.set(task.name, { state, stamp })
    if (result.changedNs > 0n) scan.changedNs.set(path, result.changedNs)
    if (state.kind !== 'skipped') return
    if (state.reason === 'unreadable') this.unreadable++
    scan.skipped.push({ path, reason: state.reason, sizeBytes: task.sizeBytes })
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

function lost(task: ReadTask): ReadResult {
  const state: State = { kind: 'skipped', reason: 'changed-while-reading', sizeBytes: task.sizeBytes }
  return { state, stamp: '', changedNs: 0n }
}

function groupByFolder(tasks: readonly ReadTask[]): Map<RelPath, ReadTask[]> {
  const groups = new Map<RelPath, ReadTask[]>()
  for (const task of tasks) {
    const group = groups.get(task.folder)
    if (group === undefined) groups.set(task.folder, [task])
    else group.push(task)
  }
  return groups
}
