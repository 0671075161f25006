import { DomainError, type Preview, type RestoreId, stateOf } from '@turnback/core'
import {
  type PlanBody,
  planBodySchema,
  type ReportBody,
  type RestoreState,
  reportBodySchema,
} from '@turnback/core/api'
import type { z } from 'zod'
import type { Connection } from '#db/client.ts'
import { inTx } from '#db/tx.ts'
import type { Deps } from '#deps.ts'
import type { MachineActor } from '#http/actor.ts'
import { invalid } from '#http/errors.ts'
import { recordEvent } from '#modules/audit/index.ts'
import { getOwnWorkspace } from '#modules/machines/index.ts'
import { openEnvelope } from '#modules/push/index.ts'
import { insertRestore, lockRestore, type RestoreRow } from './queries.ts'
import { takeStep } from './steps.ts'

/** A machine's plan, or its refusal. The same bytes again change nothing. */
export async function acceptPlan(
  deps: Deps,
  machine: MachineActor,
  id: RestoreId,
  envelope: Uint8Array,
  requestId: string,
): Promise<RestoreState> {
  const body = parseBody(openEnvelope(machine, envelope, ['plan']).text, planBodySchema)
  const atMs = deps.clock.nowMs()
  const { row, status, isCommand } = await inTx(deps.db, async (tx) => {
    const found = await lockRestore(tx, id)
    if (found === null || found.machineId !== machine.id) throw new DomainError('RESTORE_NOT_FOUND')
    if (body.restore !== id || body.workspace !== found.workspaceId)
      throw new DomainError('VALIDATION_FAILED')
    if (isSame(found.planEnvelope, envelope)) return { row: found, status: found.status, isCommand: false }
    const made = await takePlan(tx, found, body, envelope, atMs)
    await recordEvent(tx, {
      actor: { kind: 'machine', id: machine.id },
      action: 'restore.planned',
      project: found.projectId,
      objects: { restore: id },
      facts: { status: made.status, code: body.refusal?.code ?? null },
      requestId,
    })
    return { row: found, ...made }
  })
  if (isCommand) await deps.bus.publish({ type: 'command', machine: machine.id })
  await deps.bus.publish({ type: 'restore', project: row.projectId, restore: id })
  return status
}

function takePlan(tx: Connection, row: RestoreRow, body: PlanBody, envelope: Uint8Array, atMs: number) {
  const { preview, refusal, mayRunAtOnce } = body
  if (preview === null) {
    if (refusal === null) throw new DomainError('VALIDATION_FAILED', { why: 'neither plan nor refusal' })
    return takeStep(tx, row, { type: 'refused', atMs }, { planEnvelope: envelope, error: refusal }, null)
  }
  const step = {
    type: 'planned',
    atMs,
    token: preview.token,
    isClean: isClean(preview),
    mayRunAtOnce,
  } as const
  return takeStep(tx, row, step, { plan: preview, planEnvelope: envelope }, row.authoriser)
}

/** Nothing that a person should see first. The machine judges once more by its own policy. */
function isClean(plan: Preview): boolean {
  const unsettled = plan.conflicts.length + plan.alsoUndoes.length + plan.sensitive.length
  return unsettled === 0 && plan.head.then === plan.head.now
}

/** What came of a restore: of one that was asked for here, or of one at the machine itself. */
export async function acceptReport(
  deps: Deps,
  machine: MachineActor,
  id: RestoreId,
  envelope: Uint8Array,
  requestId: string,
): Promise<RestoreState> {
  const body = parseBody(openEnvelope(machine, envelope, ['report']).text, reportBodySchema)
  if (body.restore !== id || body.report.restore !== id) throw new DomainError('VALIDATION_FAILED')
  const workspace = await getOwnWorkspace(deps, machine, body.workspace)
  const atMs = deps.clock.nowMs()
  const { status, isNew } = await inTx(deps.db, async (tx) => {
    const found = await lockRestore(tx, id)
    if (found !== null && found.workspaceId !== workspace.id) throw new DomainError('WORKSPACE_NOT_FOUND')
    if (found !== null && isSame(found.reportEnvelope, envelope))
      return { status: found.status, isNew: false }
    const status =
      found === null
        ? await insertLocal(tx, workspace, body, envelope, atMs)
        : await takeReport(tx, found, body, envelope, atMs)
    await recordEvent(tx, {
      actor: { kind: 'machine', id: machine.id },
      action: 'restore.reported',
      project: workspace.projectId,
      objects: { restore: id, turn: body.target },
      facts: factsOf(body, found === null),
      requestId,
    })
    return { status, isNew: true }
  })
  if (isNew) await deps.bus.publish({ type: 'restore', project: workspace.projectId, restore: id })
  return status
}

async function takeReport(
  tx: Connection,
  row: RestoreRow,
  body: ReportBody,
  envelope: Uint8Array,
  atMs: number,
) {
  const { report } = body
  const facts = { report, reportEnvelope: envelope, error: report.error ?? null }
  return (await takeStep(tx, row, { type: 'reported', atMs, status: report.status }, facts, null)).status
}

async function insertLocal(
  tx: Connection,
  workspace: Awaited<ReturnType<typeof getOwnWorkspace>>,
  body: ReportBody,
  envelope: Uint8Array,
  atMs: number,
): Promise<RestoreState> {
  const { report } = body
  const status = stateOf(report.status)
  await insertRestore(tx, {
    id: body.restore,
    projectId: workspace.projectId,
    workspaceId: workspace.id,
    machineId: workspace.machineId,
    turnId: body.target,
    status,
    requestedBy: { kind: 'local', name: report.requestedBy.name },
    createdAt: new Date(report.startedAt),
    updatedAt: new Date(atMs),
    report,
    reportEnvelope: envelope,
    error: report.error ?? null,
  })
  return status
}

/** The machine took a request up. In the caller's transaction; gives the project to tell, or null. */
export async function markTakenUp(tx: Connection, id: RestoreId, atMs: number) {
  const row = await lockRestore(tx, id)
  if (row === null || row.status !== 'queued') return null
  await takeStep(tx, row, { type: 'taken-up', atMs }, {}, null)
  return row.projectId
}

function factsOf({ report }: ReportBody, isLocal: boolean) {
  const { status, restored, deleted, merged, kept, failed, verified } = report
  const counts = { restored: restored.length, deleted: deleted.length, merged: merged.length }
  return { status, isLocal, ...counts, kept: kept.length, failed: failed.length, verified }
}

function parseBody<T>(text: string, schema: z.ZodType<T>): T {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    throw new DomainError('VALIDATION_FAILED', { why: 'json' }, { cause: error })
  }
  const parsed = schema.safeParse(json)
  if (!parsed.success) throw invalid(parsed.error)
  return parsed.data
}

function isSame(stored: Uint8Array | null, given: Uint8Array): boolean {
  return stored !== null && Buffer.compare(stored, given) === 0
}
