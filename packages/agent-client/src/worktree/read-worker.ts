import { parentPort } from 'node:worker_threads'
import { DomainError, invariant } from '@turnback/core'
import { WorkerStore } from '#store/worker-store.ts'
import { findSystemFault } from '#unusable.ts'
import { openFolder, PathBlocked } from './anchored.ts'
import { lostResult, type ReadResult, readInto } from './read-file.ts'
import type { Batch, BatchFolder, BatchResults, JobFacts, Reply, Request } from './read-messages.ts'

/** A thread that reads files into the store. Requests come one after the other, each has one reply. */

interface Job {
  readonly facts: JobFacts
  readonly store: WorkerStore
}

let job: Job | null = null
const port = parentPort
invariant(port !== null, 'this file is started as a thread')
port.on('message', (request: Request) => port.postMessage(answer(request)))

function answer(request: Request): Reply {
  try {
    return carryOut(request)
  } catch (thrown) {
    const error = findSystemFault(thrown) ?? thrown
    return error instanceof DomainError
      ? { kind: 'refused', error: error.toJSON() }
      : { kind: 'failed', error: error instanceof Error ? error : String(error) }
  }
}

function carryOut(request: Request): Reply {
  switch (request.kind) {
    case 'begin':
      job?.store.close()
      job = { facts: request.job, store: new WorkerStore(request.job.store) }
      return { kind: 'done' }
    case 'read':
      return { kind: 'read', results: readBatch(getJob(), request.batch) }
    case 'finish':
      return { kind: 'finished', written: getJob().store.finish() }
    case 'end':
      job?.store.close()
      job = null
      return { kind: 'done' }
  }
}

function getJob(): Job {
  invariant(job !== null, 'files are read for a job')
  return job
}

function readBatch(of: Job, batch: Batch): BatchResults {
  const until = batch.leftMs === null ? null : performance.now() + batch.leftMs
  const isLate = () => until !== null && performance.now() > until
  return of.store.together(() => batch.folders.flatMap((folder) => readFolder(of, folder, isLate)))
}

function readFolder({ facts, store }: Job, batch: BatchFolder, isLate: () => boolean): BatchResults {
  const { folder, files } = batch
  if (isLate()) return files.map(() => null)
  const { workspace } = facts
  const results: (ReadResult | null)[] = []
  try {
    using opened = openFolder(facts.tree, folder, facts.anchoring)
    for (const file of files) results.push(isLate() ? null : readInto(store, opened, { workspace, ...file }))
  } catch (error) {
    if (!(error instanceof PathBlocked)) throw error
    // The folder went away or became a link since the walk; the next scan tells what it is now.
    return files.map(lostResult)
  }
  return results
}
