import type { CaptureDeps, FirstReads } from '#capture-ports.ts'
import type { Workspace } from '#ports.ts'

/** What a first capture has read is made durable this often: so much is lost when it is cut off. */
const SLICE_MS = 2000

/**
 * Lets a first capture go on where an earlier attempt was cut off. What was read is kept beside the log, by file: the
 * log itself knows nothing of the workspace before all of it was seen, so the first capture is either made or not.
 */
export function startFirstReads(deps: CaptureDeps, workspace: Workspace): FirstReads {
  const earlier = deps.captureLog.loadFirstReads(workspace.id)
  const sliceMs = deps.firstCapture?.sliceMs ?? SLICE_MS
  let savedMs = performance.now()
  return {
    find: (folder, name) => earlier.get(folder)?.get(name) ?? null,
    isSliceDue: () => performance.now() - savedMs >= sliceMs,
    save(files) {
      deps.log.transact(() => {
        deps.blobs.flush()
        deps.captureLog.saveFirstReads(workspace.id, files)
      })
      savedMs = performance.now()
    },
    onProgress: (progress) => deps.firstCapture?.onProgress?.(progress),
  }
}
