import type { BlobId, State, TurnManifest } from '@turnback/core'

/** Every blob that a manifest names, each once, in the order of its entries. */
export function listBlobIds(manifest: TurnManifest): BlobId[] {
  const ids = new Set<BlobId>()
  const take = (state: State) => {
    if (state.kind === 'file') ids.add(state.blob)
  }
  for (const entry of manifest.entries) {
    take(entry.before)
    take(entry.after)
    for (const step of entry.steps ?? []) {
      take(step.before)
      take(step.after)
    }
  }
  for (const pushed of manifest.restore?.pushed ?? []) {
    take(pushed.before)
    take(pushed.after)
  }
  return [...ids]
}
