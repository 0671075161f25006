import { createHash } from 'node:crypto'
import { zstdDecompressSync } from 'node:zlib'
import {
  canonicalJson,
  limits,
  type RestoreDetail,
  type RestoreId,
  relPathSchema,
  seenPathSchema,
  stateSchema,
  type TurnId,
  type TurnManifest,
  turnManifestSchema,
} from '@turnback/core'
import { toEntries } from '#capture/entries.ts'
import { openEnvelope } from '#crypto/check-envelope.ts'
import type { ClientDeps } from '#deps.ts'
import type { TurnRow, Workspace } from '#ports.ts'
import { bytes, id, integer, json, type Row, text, textOrNull } from '#store/rows.ts'

/** Something in the log that is not as it should be. */
export interface LogFault {
  readonly workspace: string
  readonly turn: TurnId | RestoreId | null
  readonly what: string
}

type Say = (turn: LogFault['turn'], what: string) => void

/**
 * Looks whether the log says what was signed, and whether the chain of what was signed is whole.
 * @param isChosen which turns are looked at; the chain is looked at in any case
 */
export function verifyLog(deps: ClientDeps, isChosen: (turn: TurnId) => boolean): LogFault[] {
  const faults: LogFault[] = []
  for (const problem of deps.db.all('PRAGMA integrity_check(20)')) {
    const what = String(Object.values(problem)[0])
    if (what !== 'ok') faults.push({ workspace: '', turn: null, what: `database: ${what}` })
  }
  for (const workspace of deps.log.listWorkspaces()) {
    const say: Say = (turn, what) => faults.push({ workspace: workspace.root, turn, what })
    checkRows(deps, workspace, say)
    checkChain(deps, workspace, say)
    for (const { turn } of deps.db.all(
      'SELECT turn FROM envelopes WHERE workspace = ? ORDER BY seq',
      workspace.id,
    )) {
      const name = id({ turn }, 'turn', 't')
      if (isChosen(name)) checkTurn(deps, workspace, name, say)
    }
  }
  return faults
}

/** Every state and path can be read, and every change belongs to a turn. */
function checkRows({ db, captureLog, log }: ClientDeps, workspace: Workspace, say: Say): void {
  const changes = `SELECT c.path, c.scan, c.before, c.after, c.turn, t.id AS known FROM changes c
    LEFT JOIN turns t ON t.id = c.turn WHERE c.workspace = ? AND (c.scan, c.path) > (?, ?)
    ORDER BY c.scan, c.path LIMIT 1000`
  let after: [number, string] = [-1, '']
  for (;;) {
    const rows = db.all(changes, workspace.id, ...after)
    for (const row of rows) {
      if (row.known === null) say(null, `change of ${String(row.path)} without its turn`)
      else if (!isChange(row)) say(id(row, 'known', 't'), `change of ${String(row.path)} cannot be read`)
    }
    const last = rows.at(-1)
    if (last === undefined) break
    after = [integer(last, 'scan'), text(last, 'path')]
  }
  try {
    for (const [folder, { entries }] of captureLog.loadKnown(workspace.id)) {
      for (const [name, { state }] of entries) {
        const path = folder === '' ? name : `${folder}/${name}`
        if (!stateSchema.safeParse(state).success) say(null, `known state of ${path} cannot be read`)
      }
    }
    for (const { turn } of log.listListed(workspace.id)) log.findListing(turn)
  } catch (error) {
    say(null, `what is known of the tree cannot be read: ${messageOf(error)}`)
  }
}

function isChange(row: Row): boolean {
  const isPath = seenPathSchema.safeParse(row.path).success || relPathSchema.safeParse(row.path).success
  return isPath && ['before', 'after'].every((column) => isState(row[column]))
}

function isState(value: unknown): boolean {
  try {
    return stateSchema.safeParse(JSON.parse(String(value))).success
  } catch {
    return false
  }
}

/** Each envelope goes on from the one before; of those that retention removed the place in the chain is known. */
function checkChain({ db }: ClientDeps, workspace: Workspace, say: Say): void {
  let last: { seq: number; sha256: string | null } = { seq: 0, sha256: null }
  const sql = `SELECT turn, seq, prev, sha256 FROM envelopes WHERE workspace = ?1
    UNION ALL SELECT turn, seq, prev, sha256 FROM removed_turns WHERE workspace = ?1 AND seq IS NOT NULL
    ORDER BY seq`
  for (const row of db.all(sql, workspace.id)) {
    const [turn, seq] = [id(row, 'turn', 't'), integer(row, 'seq')]
    if (seq !== last.seq + 1) say(turn, `envelope ${last.seq + 1} is not there`)
    else if (textOrNull(row, 'prev') !== last.sha256) say(turn, `envelope ${seq} does not follow ${last.seq}`)
    last = { seq, sha256: text(row, 'sha256') }
  }
  const head = db.get('SELECT next_seq, head_sha256 FROM workspaces WHERE id = ?', workspace.id) ?? {}
  if (integer(head, 'next_seq') !== last.seq + 1 || textOrNull(head, 'head_sha256') !== last.sha256)
    say(null, 'the end of the chain is not where the workspace says')
}

function checkTurn(deps: ClientDeps, workspace: Workspace, turn: TurnId, say: Say): void {
  const row = deps.log.findTurn(turn)
  const signed = row === null ? 'an envelope without its turn' : readSigned(deps, workspace, turn)
  if (row === null || typeof signed === 'string') say(turn, String(signed))
  else {
    try {
      compareWithRows(deps, workspace, row, signed, say)
    } catch (error) {
      say(turn, `its rows cannot be read: ${messageOf(error)}`)
    }
  }
}

/** The manifest as it was signed, or what is wrong with it. */
function readSigned(deps: ClientDeps, workspace: Workspace, turn: TurnId): TurnManifest | string {
  const row = deps.db.get('SELECT seq, prev, sha256, zstd FROM envelopes WHERE turn = ?', turn) ?? {}
  try {
    const envelope = zstdDecompressSync(bytes(row, 'zstd'), { maxOutputLength: limits.envelopeBytes })
    const sha256 = createHash('sha256').update(envelope).digest('hex')
    if (sha256 !== text(row, 'sha256')) return 'the envelope is not the one that was chained'
    const body = openEnvelope(envelope, 'turn', deps.identity())
    if (body === null) return 'the signature does not fit'
    const manifest = turnManifestSchema.parse(JSON.parse(Buffer.from(body).toString('utf8')))
    const isOwn =
      manifest.turn === turn &&
      manifest.workspace === workspace.id &&
      manifest.seq === integer(row, 'seq') &&
      manifest.prev === textOrNull(row, 'prev')
    return isOwn ? manifest : 'the envelope is of another place in the chain'
  } catch (error) {
    return `the envelope cannot be read: ${messageOf(error)}`
  }
}

/** What plans are made from says what was signed. */
function compareWithRows(
  { db, log, captureLog }: ClientDeps,
  workspace: Workspace,
  row: TurnRow,
  manifest: TurnManifest,
  say: Say,
): void {
  const facts = ['number', 'kind', 'session', 'startedAt', 'endedAt', 'endReason'] as const
  for (const fact of facts) {
    const isCut = fact === 'session' && row.session !== null && row.session.length > limits.sessionCharacters
    if (!isCut && row[fact] !== manifest[fact]) say(row.turn, `${fact} is not what was signed`)
  }
  // Before the gap there is nothing to compare with.
  const gap = log.findGap(workspace.id)
  if (gap !== null && row.endScan !== null && row.endScan <= gap.scan) return
  if (manifest.kind === 'restore') {
    const stored = db.get('SELECT detail FROM restores WHERE turn = ?', row.turn)
    if (stored === undefined || !isSame(json<RestoreDetail>(stored, 'detail'), manifest.restore))
      say(row.turn, 'what the restore did is not what was signed')
    return
  }
  const signed = new Map(manifest.entries.map((entry) => [entry.path, entry]))
  for (const entry of toEntries(captureLog.listChangesOf(row))) {
    if (!isSame(entry, signed.get(entry.path)))
      say(row.turn, `change of ${entry.path} is not what was signed`)
    signed.delete(entry.path)
  }
  for (const path of signed.keys()) say(row.turn, `change of ${path} was signed and is not there`)
}

function isSame(a: unknown, b: unknown): boolean {
  return b !== undefined && canonicalJson(a) === canonicalJson(b)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
