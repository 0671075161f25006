import type { RelPath } from '@turnback/core'
import type { ReadTask } from './scan.ts'

/** A batch is about this much: some ten milliseconds of work, so that all threads end at the same time. */
const BATCH_FILES = 64
const BATCH_BYTES = 2 * 1024 * 1024
/** Bigger files are read one at a time, so that what is in memory does not depend on what the tree holds. */
const LARGE_BYTES = 4 * 1024 * 1024

/** Files of one folder, of those that one request asks for. */
export interface TaskGroup {
  readonly folder: RelPath
  readonly tasks: readonly ReadTask[]
}

/** Deals out the files of a scan in batches, folder by folder. */
export class ReadBatches {
  readonly #groups: Iterator<TaskGroup>
  readonly #large: ReadTask[]
  #largeOut: readonly TaskGroup[] | null = null
  #next: TaskGroup | null

  constructor(tasks: readonly ReadTask[]) {
    this.#large = tasks.filter(({ sizeBytes }) => sizeBytes > LARGE_BYTES).reverse()
    this.#groups = eachGroup(tasks)
    this.#next = this.#groups.next().value ?? null
  }

  /** Null when there is nothing to be read now. */
  next(): readonly TaskGroup[] | null {
    const large = this.#largeOut === null ? this.#large.pop() : undefined
    if (large !== undefined) {
      this.#largeOut = [{ folder: large.folder, tasks: [large] }]
      return this.#largeOut
    }
    const groups: TaskGroup[] = []
    let files = 0
    let bytes = 0
    while (this.#next !== null && files < BATCH_FILES && bytes < BATCH_BYTES) {
      groups.push(this.#next)
      files += this.#next.tasks.length
      bytes += this.#next.tasks.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
      this.#next = this.#groups.next().value ?? null
    }
    return groups.length === 0 ? null : groups
  }

  /** Told of each batch that was read. */
  done(groups: readonly TaskGroup[]): void {
    if (groups === this.#largeOut) this.#largeOut = null
  }
}

/** Groups of files that lie in one folder, none bigger than a batch. */
function* eachGroup(tasks: readonly ReadTask[]): Generator<TaskGroup, undefined> {
  for (const [folder, all] of groupByFolder(tasks)) {
    let group: ReadTask[] = []
    let bytes = 0
    for (const task of all) {
      if (task.sizeBytes > LARGE_BYTES) continue
      group.push(task)
      bytes += task.sizeBytes
      if (group.length < BATCH_FILES && bytes < BATCH_BYTES) continue
      yield { folder, tasks: group }
      group = []
      bytes = 0
    }
    if (group.length > 0) yield { folder, tasks: group }
  }
}

export function groupByFolder(tasks: readonly ReadTask[]): Map<RelPath, ReadTask[]> {
  const groups = new Map<RelPath, ReadTask[]>()
  for (const task of tasks) {
    const group = groups.get(task.folder)
    if (group === undefined) groups.set(task.folder, [task])
    else group.push(task)
  }
  return groups
}
