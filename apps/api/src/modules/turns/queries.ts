import type { EndReason, MachineId, ProjectId, RelPath, TurnId, TurnKind, WorkspaceId } from '@turnback/core'
import type { TurnSummary } from '@turnback/core/api'
import { and, asc, desc, eq, exists, gt, gte, ilike, lt, lte, or, type SQL, sql } from 'drizzle-orm'
import type { Connection } from '#db/client.ts'
import { users } from '#db/schema/accounts.ts'
import { machines, workspaces } from '#db/schema/machines.ts'
import { projectMembers } from '#db/schema/projects.ts'
import { envelopes } from '#db/schema/push.ts'
import { turnEntries, turns } from '#db/schema/turns.ts'

export interface TurnFilter {
  readonly project: ProjectId
  readonly session?: string | undefined
  readonly agent?: string | undefined
  readonly machine?: MachineId | undefined
  readonly workspace?: WorkspaceId | undefined
  readonly path?: string | undefined
  readonly kind?: TurnKind | undefined
  readonly endReason?: EndReason | undefined
  readonly q?: string | undefined
  readonly since?: string | undefined
  readonly until?: string | undefined
}

const summaryColumns = {
  place: turns.place,
  turn: turns.id,
  number: turns.number,
  kind: turns.kind,
  project: turns.projectId,
  workspace: turns.workspaceId,
  workspaceName: workspaces.name,
  machine: turns.machineId,
  machineName: machines.name,
  onlineUntil: machines.onlineUntil,
  ownerName: users.name,
  session: turns.session,
  agent: turns.agent,
  prompt: turns.prompt,
  label: turns.label,
  startedAt: turns.startedAt,
  endedAt: turns.endedAt,
  endReason: turns.endReason,
  created: turns.created,
  changed: turns.changed,
  deleted: turns.deleted,
  skipped: turns.skipped,
  sealed: turns.sealed,
  undone: turns.undone,
  restore: turns.restoreId,
}

export interface PlacedSummary {
  readonly place: number
  readonly summary: TurnSummary
}

/** Newest first, by when the server was told. */
export async function listTurns(
  db: Connection,
  filter: TurnFilter,
  page: { before: number | null; limit: number; now: Date },
): Promise<PlacedSummary[]> {
  const rows = await db
    .select(summaryColumns)
    .from(turns)
    .innerJoin(workspaces, eq(workspaces.id, turns.workspaceId))
    .innerJoin(machines, eq(machines.id, turns.machineId))
    .innerJoin(users, eq(users.id, machines.ownerId))
    .where(and(...conditionsOf(db, filter), page.before === null ? undefined : lt(turns.place, page.before)))
    .orderBy(desc(turns.place))
    .limit(page.limit)
  return rows.map((row) => toPlaced(row, page.now))
}

function conditionsOf(db: Connection, filter: TurnFilter): (SQL | undefined)[] {
  return [
    eq(turns.projectId, filter.project),
    filter.session === undefined ? undefined : eq(turns.session, filter.session),
    filter.agent === undefined ? undefined : eq(turns.agent, filter.agent),
    filter.machine === undefined ? undefined : eq(turns.machineId, filter.machine),
    filter.workspace === undefined ? undefined : eq(turns.workspaceId, filter.workspace),
    filter.kind === undefined ? undefined : eq(turns.kind, filter.kind),
    filter.endReason === undefined ? undefined : eq(turns.endReason, filter.endReason),
    filter.since === undefined ? undefined : gte(turns.endedAt, new Date(filter.since)),
    filter.until === undefined ? undefined : lte(turns.startedAt, new Date(filter.until)),
    filter.path === undefined ? undefined : hasEntry(db, isAtOrBelow(filter.path)),
    filter.q === undefined || filter.q === '' ? undefined : matches(db, filter.q),
  ]
}

function hasEntry(db: Connection, condition: SQL | undefined): SQL {
  return exists(
    db
      .select({ one: sql`1` })
      .from(turnEntries)
      .where(and(eq(turnEntries.turnId, turns.id), condition)),
  )
}

function isAtOrBelow(path: string): SQL | undefined {
  // Names are literal: everything below a folder lies between `folder/` and `folder0`, the byte after the slash.
  return or(
    eq(turnEntries.path, path),
    and(gte(turnEntries.path, `${path}/`), lt(turnEntries.path, `${path}0`)),
  )
}

function matches(db: Connection, q: string): SQL | undefined {
  const pattern = `%${q.replaceAll(/[\\%_]/g, '\\$&')}%`
  return or(
    ilike(turns.prompt, pattern),
    ilike(turns.label, pattern),
    hasEntry(db, ilike(turnEntries.path, pattern)),
  )
}

type SummaryRow = Omit<TurnSummary, 'machineOnline' | 'startedAt' | 'endedAt'> & {
  place: number
  onlineUntil: Date | null
  startedAt: Date
  endedAt: Date
}

function toPlaced({ place, onlineUntil, startedAt, endedAt, ...row }: SummaryRow, now: Date): PlacedSummary {
  const machineOnline = onlineUntil !== null && onlineUntil > now
  return {
    place,
    summary: { ...row, machineOnline, startedAt: startedAt.toISOString(), endedAt: endedAt.toISOString() },
  }
}

/** A turn of any project that the person is a member of. */
export async function findTurnFor(db: Connection, personId: string, id: TurnId, now: Date) {
  const [row] = await db
    .select({
      ...summaryColumns,
      seq: turns.seq,
      head: turns.head,
      skippedPaths: turns.skippedPaths,
      receivedAt: turns.receivedAt,
      envelopeSha256: envelopes.ownSha256,
    })
    .from(turns)
    .innerJoin(envelopes, eq(envelopes.turn, turns.id))
    .innerJoin(workspaces, eq(workspaces.id, turns.workspaceId))
    .innerJoin(machines, eq(machines.id, turns.machineId))
    .innerJoin(users, eq(users.id, machines.ownerId))
    .innerJoin(
      projectMembers,
      and(eq(projectMembers.projectId, turns.projectId), eq(projectMembers.userId, personId)),
    )
    .where(eq(turns.id, id))
  if (row === undefined) return null
  const { seq, head, skippedPaths, receivedAt, envelopeSha256, ...summary } = row
  return { ...toPlaced(summary, now), seq, head, skippedPaths, receivedAt, envelopeSha256 }
}

/** Where a turn's rows and blobs lie, for a member of its project. */
export async function findTurnPlace(db: Connection, personId: string, id: TurnId) {
  const [row] = await db
    .select({
      turn: turns.id,
      project: turns.projectId,
      workspace: turns.workspaceId,
      envelopeSha256: envelopes.ownSha256,
    })
    .from(turns)
    .innerJoin(envelopes, eq(envelopes.turn, turns.id))
    .innerJoin(
      projectMembers,
      and(eq(projectMembers.projectId, turns.projectId), eq(projectMembers.userId, personId)),
    )
    .where(eq(turns.id, id))
  return row ?? null
}

/** The turns before and after in the same workspace. */
export async function findNeighbours(
  db: Connection,
  workspace: WorkspaceId,
  seq: number,
): Promise<{ previous: TurnId | null; next: TurnId | null }> {
  const nearest = (side: SQL, order: SQL) =>
    db
      .select({ id: turns.id })
      .from(turns)
      .where(and(eq(turns.workspaceId, workspace), side))
      .orderBy(order)
      .limit(1)
  const [previous] = await nearest(lt(turns.seq, seq), desc(turns.seq))
  const [next] = await nearest(gt(turns.seq, seq), asc(turns.seq))
  return { previous: previous?.id ?? null, next: next?.id ?? null }
}

export interface EntryRow {
  readonly path: RelPath
  readonly before: typeof turnEntries.$inferSelect.before
  readonly after: typeof turnEntries.$inferSelect.after
  readonly source: typeof turnEntries.$inferSelect.source
  readonly scan: number
  readonly sealed: boolean
}

const entryColumns = {
  path: turnEntries.path,
  before: turnEntries.before,
  after: turnEntries.after,
  source: turnEntries.source,
  scan: turnEntries.scan,
  sealed: turnEntries.isSealed,
}

/** By path, in the order of bytes. */
export async function listEntryRows(
  db: Connection,
  turn: TurnId,
  page: { after: string | null; limit: number },
): Promise<EntryRow[]> {
  return await db
    .select(entryColumns)
    .from(turnEntries)
    .where(
      and(eq(turnEntries.turnId, turn), page.after === null ? undefined : gt(turnEntries.path, page.after)),
    )
    .orderBy(asc(turnEntries.path))
    .limit(page.limit)
}

export async function findEntry(db: Connection, turn: TurnId, path: RelPath): Promise<EntryRow | null> {
  const [row] = await db
    .select(entryColumns)
    .from(turnEntries)
    .where(and(eq(turnEntries.turnId, turn), eq(turnEntries.path, path)))
  return row ?? null
}
