import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { createTranscripts } from '#adapters/read-transcript.ts'
import { type Audits, createAudits } from '#capture/audit.ts'
import { createCapture } from '#capture/capture.ts'
import { createReadAhead, type RunningReadAhead } from '#capture/read-ahead.ts'
import type { CaptureDeps } from '#capture-ports.ts'
import { findHome, loadConfig, makeFolders } from '#config.ts'
import { openIdentity } from '#crypto/identity.ts'
import { readOrMakeKey } from '#crypto/key-file.ts'
import { createSecretFinder } from '#crypto/secret-finder.ts'
import { createSecretThread } from '#crypto/secret-thread.ts'
import type { Clock, Deps, MachineIdentity } from '#ports.ts'
import { SqliteAgentLog } from '#store/agent-log.ts'
import { PackedBlobs } from '#store/blob-store.ts'
import { SqliteCaptureLog } from '#store/capture-log.ts'
import { Database } from '#store/database.ts'
import { KnownTrees } from '#store/known-tree.ts'
import { RowLeases } from '#store/leases.ts'
import { removeLeftovers } from '#store/leftovers.ts'
import { SqliteLog } from '#store/log.ts'
import { PackFolder } from '#store/pack-folder.ts'
import { processes } from '#store/process.ts'
import { readGitState } from '#worktree/git-state.ts'
import { ignoresCase } from '#worktree/ignores-case.ts'
import { createTreeLooker } from '#worktree/look-at-tree.ts'
import { ReadCrew } from '#worktree/read-crew.ts'
import { watchTrees } from '#worktree/tree-watch.ts'
import { createTreeWriter } from '#worktree/tree-writer.ts'
import { createWorkTree } from '#worktree/work-tree.ts'
import { orUnusable } from './unusable.ts'

const STORE_KEY_BYTES = 32

/** Everything wired together; with what only capture/ and `verify` use beside what ports.ts promises. */
export interface ClientDeps extends Deps, CaptureDeps {
  readonly db: Database
  readonly log: SqliteLog
  readonly packedBlobs: PackedBlobs
  readonly packs: PackFolder
  readonly crew: ReadCrew
}

const systemClock: Clock = { nowMs: () => Date.now() }

export interface OpenOptions {
  readonly clock?: Clock
  /** The process stays, so that it can hear of changes and need not look for them. */
  readonly isResident?: boolean
  /** Takes what is done when nobody waits for it. */
  readonly note?: (event: string, facts: Readonly<Record<string, unknown>>) => void
  readonly firstCapture?: NonNullable<CaptureDeps['firstCapture']>
  /** How long after a change its file is read ahead of the turn's end. */
  readonly settleMs?: number
}

function makeWriters(blobs: PackedBlobs, random: Deps['random']): Deps['writer'] {
  return (workspace, restore) =>
    createTreeWriter({ workspace, restore, blobs, random, ignoresCase: ignoresCase(workspace.root) })
}

/** Opens the store and wires the client. @throws STORE_NEWER, STORE_CORRUPT, STORE_FULL, STORE_UNUSABLE, CONFIG_INVALID */
export function openDeps(
  env: Readonly<Record<string, string | undefined>>,
  { clock = systemClock, isResident = false, note = () => {}, firstCapture = {}, settleMs }: OpenOptions = {},
): ClientDeps {
  const home = findHome(env)
  makeFolders(home)
  orUnusable(home.store, () => removeLeftovers([home.config, home.store, home.keys], clock.nowMs()))
  const config = loadConfig(home)
  const db = orUnusable(home.store, () => new Database(home.store, isResident ? 'write' : 'write-or-alone'))
  const packs = orUnusable(home.store, () => new PackFolder(home.store, db))
  let storeKey: Uint8Array | null = null
  const packedBlobs = new PackedBlobs(db, packs, () => {
    storeKey ??= readOrMakeKey(home.keys, 'store.key', () => randomBytes(STORE_KEY_BYTES))
    return storeKey
  })
  const known = new KnownTrees(db)
  const crew = new ReadCrew({ isKept: isResident })
  const log = new SqliteLog(db, known)
  const leases = new RowLeases(db, () => log.listWorkspaces())
  let identity: MachineIdentity | null = null
  let audits: Audits | null = null
  const secretThread = isResident ? createSecretThread() : null
  const withoutAhead: Omit<CaptureDeps, 'ahead'> = {
    clock,
    processes,
    config,
    log,
    ...{ captureLog: new SqliteCaptureLog(db, known), agents: new SqliteAgentLog(db) },
    blobs: packedBlobs,
    looker: createTreeLooker({ clock, config, home, blobs: packedBlobs, crew }),
    firstCapture,
    watches: isResident && config.watch !== 'off' ? watchTrees(join(home.store, 'watch')) : null,
    afterEnd: isResident ? (workspace, ended) => audits?.schedule(workspace, ended) : null,
    secrets: secretThread ?? createSecretFinder(),
    identity() {
      identity ??= openIdentity(home.keys, clock.nowMs())
      return identity
    },
    ...{ random: (bytes) => randomBytes(bytes), git: readGitState, transcripts: createTranscripts() },
  }
  const { watches } = withoutAhead
  const ahead: RunningReadAhead | null =
    watches === null ? null : createReadAhead({ ...withoutAhead, leases }, watches, note, settleMs)
  const captureDeps: CaptureDeps = { ...withoutAhead, ahead }
  audits = createAudits({ ...captureDeps, leases }, note)
  return {
    ...captureDeps,
    home,
    leases,
    capture: createCapture(captureDeps, leases, audits),
    worktree: createWorkTree(packedBlobs),
    ignoresCase,
    writer: makeWriters(packedBlobs, captureDeps.random),
    log,
    db,
    packedBlobs,
    packs,
    crew,
    close() {
      ahead?.close()
      audits?.close()
      secretThread?.close()
      captureDeps.watches?.close()
      crew.close()
      packs.close()
      db.close()
    },
  }
}
