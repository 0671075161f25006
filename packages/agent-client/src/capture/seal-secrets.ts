import { type BlobId, type Change, DomainError, isSealed, type RelPath, type State } from '@turnback/core'
import type { CaptureDeps } from '#capture-ports.ts'
import type { Workspace } from '#ports.ts'

/** Texts are searched in groups of about this much. */
const GROUP_BYTES = 1024 * 1024
/** Texts above this are sealed without a look. */
const LARGEST_TEXT = 4 * 1024 * 1024
/** Bytes that are looked at to tell a text from other files, as git does. */
const HEAD_BYTES = 8000

/**
 * Stores the bytes of paths that hold secrets again as sealed ones, before anything is signed. With the lease held. A
 * path that was found once stays sealed.
 * @returns the changes, with sealed ids where bytes turned out to be secret
 */
export function sealPaths(
  deps: CaptureDeps,
  workspace: Workspace,
  changes: readonly Change[],
  secret: ReadonlySet<RelPath>,
): Change[] {
  if (secret.size === 0) return [...changes]
  const sealed = changes.map((change) =>
    secret.has(change.path) ? sealChange(deps, workspace, change) : change,
  )
  deps.log.transact(() => {
    deps.blobs.flush()
    deps.captureLog.addSealedPaths(workspace.id, [...secret])
    sealed.forEach(({ path, scan, before, after }, i) => {
      if (sealed[i] !== changes[i]) deps.captureLog.replaceStates(workspace.id, path, scan, before, after)
    })
    deps.captureLog.renameKnown(workspace.id, renamed(changes, sealed))
  })
  return sealed
}

/**
 * Finds out which of a turn's paths hold secrets by their content.
 * @returns null when the search was not done by `untilMs` (milliseconds since 1970; null to take the time it takes)
 */
export async function findSecretPaths(
  deps: CaptureDeps,
  workspace: Workspace,
  changes: readonly Change[],
  untilMs: number | null,
): Promise<Set<RelPath> | null> {
  const secret = new Set<RelPath>()
  const pathsOf = new Map<BlobId, RelPath[]>()
  for (const { path, before, after } of changes) {
    const isKnown = deps.log.isSealedPath(workspace.id, path)
    for (const state of [before, after]) {
      if (state.kind !== 'file') continue
      if (isKnown || isSealed(state.blob)) secret.add(path)
      else {
        const paths = pathsOf.get(state.blob)
        if (paths === undefined) pathsOf.set(state.blob, [path])
        else paths.push(path)
      }
    }
  }
  for (const group of groupTexts(deps, pathsOf.keys())) {
    if (untilMs !== null && deps.clock.nowMs() > untilMs) return null
    const found = await deps.secrets.find(group.map(({ text }) => text ?? ''))
    group.forEach(({ blob, text }, i) => {
      if (text === null || found[i] === true) for (const path of pathsOf.get(blob) ?? []) secret.add(path)
    })
  }
  return secret
}

interface Text {
  readonly blob: BlobId
  /** Null when it is too long to be looked at. */
  readonly text: string | null
}

function* groupTexts(deps: CaptureDeps, blobs: Iterable<BlobId>): Generator<Text[]> {
  let group: Text[] = []
  let size = 0
  for (const blob of blobs) {
    const sizeBytes = deps.blobs.findSize(blob) ?? 0
    if (sizeBytes === 0) continue
    const isLong = sizeBytes > LARGEST_TEXT
    const bytes = readOrNull(() => (isLong ? readFirstPiece(deps, blob) : deps.blobs.read(blob)))
    if (bytes === null || bytes.subarray(0, HEAD_BYTES).includes(0)) continue
    group.push({ blob, text: isLong ? null : new TextDecoder().decode(bytes) })
    if (isLong) continue
    size += sizeBytes
    if (size < GROUP_BYTES) continue
    yield group
    group = []
    size = 0
  }
  if (group.length > 0) yield group
}

/** Null for bytes that are lost: nobody can search or send them, and they stand in the way of no other turn. */
function readOrNull(read: () => Uint8Array): Uint8Array | null {
  try {
    return read()
  } catch (error) {
    const isLost =
      error instanceof DomainError && (error.code === 'BLOB_NOT_FOUND' || error.code === 'BLOB_HASH_MISMATCH')
    if (isLost) return null
    throw error
  }
}

/** What the store gives first of a long file; the biggest ones lie there in pieces. */
function readFirstPiece(deps: CaptureDeps, blob: BlobId): Uint8Array {
  const enough = new Error('the first piece is enough')
  let first = new Uint8Array(0)
  try {
    deps.blobs.readPieces(blob, (piece) => {
      first = Uint8Array.from(piece.subarray(0, HEAD_BYTES))
      throw enough
    })
  } catch (error) {
    if (error !== enough) throw error
  }
  return first
}

function sealChange(deps: CaptureDeps, workspace: Workspace, change: Change): Change {
  const before = sealState(deps, workspace, change.before)
  const after = sealState(deps, workspace, change.after)
  return before === change.before && after === change.after ? change : { ...change, before, after }
}

function sealState(deps: CaptureDeps, workspace: Workspace, state: State): State {
  if (state.kind !== 'file' || isSealed(state.blob)) return state
  const bytes = readOrNull(() => deps.blobs.read(state.blob))
  return bytes === null ? state : { ...state, blob: deps.blobs.put(workspace.id, bytes, true) }
}

/** Per path, the plain names that were given up for sealed ones. */
function renamed(before: readonly Change[], after: readonly Change[]): Map<RelPath, Map<BlobId, BlobId>> {
  const all = new Map<RelPath, Map<BlobId, BlobId>>()
  before.forEach((change, i) => {
    const other = after[i]
    if (other === undefined) return
    const names = all.get(change.path) ?? new Map<BlobId, BlobId>()
    for (const side of ['before', 'after'] as const) {
      const [from, to] = [change[side], other[side]]
      if (from.kind === 'file' && to.kind === 'file' && from.blob !== to.blob) names.set(from.blob, to.blob)
    }
    if (names.size > 0) all.set(change.path, names)
  })
  return all
}
