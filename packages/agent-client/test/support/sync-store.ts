import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Entry,
  MANIFEST_FORMAT,
  makeId,
  type RelPath,
  type RestoreReport,
  type State,
  type TurnId,
  type TurnManifest,
} from '@turnback/core'
import { findHome, makeFolders } from '#config.ts'
import { openIdentity } from '#crypto/identity.ts'
import type { Workspace } from '#ports.ts'
import { PackedBlobs } from '#store/blob-store.ts'
import { SqliteCaptureLog } from '#store/capture-log.ts'
import { Database } from '#store/database.ts'
import { KnownTrees } from '#store/known-tree.ts'
import { SqliteLog } from '#store/log.ts'
import { PackFolder } from '#store/pack-folder.ts'

/** A real store in a temporary home, with turns written straight into it: what sync/ finds after a capture. */
export function makeSyncStore(name = 'sync') {
  const folder = mkdtempSync(join(tmpdir(), `turnback-${name}-`))
  const home = findHome({ TURNBACK_HOME: join(folder, 'home') })
  makeFolders(home)
  const root = join(folder, 'project')
  mkdirSync(root)
  const db = new Database(home.store)
  const known = new KnownTrees(db)
  const log = new SqliteLog(db, known)
  const writing = new SqliteCaptureLog(db, known)
  const packs = new PackFolder(home.store, db)
  const storeKey = randomBytes(32)
  const blobs = new PackedBlobs(db, packs, () => storeKey)
  const identity = openIdentity(home.keys, Date.now())
  const clock = { nowMs: () => Date.now() }
  const newId = <P extends 't' | 'r' | 'w' | 'c'>(prefix: P) => makeId(prefix, Date.now(), randomBytes(10))

  function addWorkspace(): Workspace {
    const workspace: Workspace = {
      id: newId('w'),
      root,
      device: '1',
      inode: randomBytes(4).toString('hex'),
      name: 'project',
      project: null,
      createdAt: new Date().toISOString(),
    }
    log.transact(() => writing.insertWorkspace(workspace, randomBytes(32)))
    return workspace
  }

  /** A finished turn that made these files; the bytes are put into the store. */
  function addTurn(
    workspace: Workspace,
    files: Readonly<Record<RelPath, string | Uint8Array>>,
  ): TurnManifest {
    return log.transact(() => {
      const scan = writing.takeScan(workspace.id)
      const entries = Object.entries(files).map(([path, content]): Entry => {
        const bytes = typeof content === 'string' ? Buffer.from(content) : content
        const sealed = path.startsWith('.env')
        const blob = blobs.put(workspace.id, bytes, sealed)
        const after: State = { kind: 'file', blob, sizeBytes: bytes.length, mode: 0o644 }
        return { path, before: { kind: 'absent' }, after, source: 'unknown', scan, steps: null, sealed }
      })
      blobs.flush()
      return writeTurn(workspace, entries)
    })
  }

  function writeTurn(workspace: Workspace, entries: Entry[]): TurnManifest {
    const turn = newId('t')
    const at = new Date().toISOString()
    const number = writing.insertTurn({
      turn,
      workspace: workspace.id,
      kind: 'agent',
      session: 's1',
      key: null,
      agent: null,
      prompt: null,
      label: null,
      task: null,
      startedAt: at,
      beginScan: 1,
      headBefore: null,
      branch: null,
      operation: null,
      paths: null,
      lateStart: false,
      incomplete: null,
      agentProcess: null,
      isUnseen: false,
      missed: null,
    })
    const { seq, prev } = writing.peekChain(workspace.id)
    const manifest: TurnManifest = {
      format: MANIFEST_FORMAT,
      turn,
      kind: 'agent',
      number,
      seq,
      prev,
      machine: identity.machine,
      workspace: workspace.id,
      project: null,
      session: 's1',
      agent: null,
      task: null,
      label: null,
      startedAt: at,
      endedAt: at,
      endReason: 'completed',
      lateStart: false,
      lateEnd: false,
      prompt: null,
      lastMessage: null,
      git: { headBefore: null, headAfter: null, branch: null, operation: null },
      coverage: { complete: true, reason: null, files: entries.length },
      overlaps: [],
      entries,
      skipped: [],
    }
    const envelope = identity.signEnvelope('turn', Buffer.from(JSON.stringify(manifest)))
    writing.insertEnvelope(turn, workspace.id, seq, prev, envelope)
    return manifest
  }

  function addReport(workspace: Workspace, report: RestoreReport): void {
    log.transact(() => writing.insertReport(workspace.id, report, new Date().toISOString()))
  }

  return {
    folder,
    home,
    log,
    blobs,
    identity,
    clock,
    db,
    newId,
    addWorkspace,
    addTurn,
    addReport,
    /** Swaps the bytes of a stored envelope: a log that was tampered with. */
    spoilEnvelope(turn: TurnId, zstd: Uint8Array) {
      db.run('UPDATE envelopes SET zstd = ? WHERE turn = ?', zstd, turn)
    },
    close() {
      db.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export type SyncStore = ReturnType<typeof makeSyncStore>
