import { type ChainHead, chainHeadSchema, DomainError, type WorkspaceId } from '@turnback/core'
import type { Connection } from '#db/client.ts'
import { inTx } from '#db/tx.ts'
import type { Deps } from '#deps.ts'
import type { MachineActor } from '#http/actor.ts'
import { invalid } from '#http/errors.ts'
import { recordEvent } from '#modules/audit/index.ts'
import { getOwnWorkspace } from '#modules/machines/index.ts'
import { openEnvelope } from './envelope-service.ts'
import { findChainSha256, findHead, insertHead } from './head-queries.ts'
import { lockWorkspace } from './turn-queries.ts'

/**
 * Takes a machine's word of where its chain ends as a turn begins. From then on the chain must go through there:
 * a log that is altered afterwards, turns that were not sent yet included, no longer fits.
 * @throws CHAIN_BROKEN when it is not what was sent or said before; that is in the audit
 */
export async function acceptHead(
  deps: Deps,
  machine: MachineActor,
  id: WorkspaceId,
  envelope: Uint8Array,
  requestId: string,
): Promise<Pick<ChainHead, 'workspace' | 'seq' | 'sha256'>> {
  const head = parseHead(openEnvelope(machine, envelope, ['head']).text)
  if (head.workspace !== id) throw new DomainError('VALIDATION_FAILED', { why: 'workspace' })
  const workspace = await getOwnWorkspace(deps, machine, id)
  try {
    await inTx(deps.db, async (tx) => {
      await lockWorkspace(tx, id)
      await refuseContradiction(tx, head)
      await insertHead(tx, {
        workspaceId: id,
        seq: head.seq,
        sha256: head.sha256,
        number: head.number,
        announcedAt: new Date(head.at),
        bytes: envelope,
        receivedAt: new Date(deps.clock.nowMs()),
      })
    })
  } catch (error) {
    if (error instanceof DomainError)
      await recordEvent(deps.db, {
        actor: { kind: 'machine', id: machine.id },
        action: 'push.refused',
        project: workspace.projectId,
        objects: { workspace: id },
        facts: { code: error.code, seq: head.seq, isHead: true },
        requestId,
      })
    throw error
  }
  return { workspace: id, seq: head.seq, sha256: head.sha256 }
}

/** @throws CHAIN_BROKEN when what comes now is not what was announced for its place */
export async function checkAgainstHead(
  tx: Connection,
  workspace: WorkspaceId,
  given: { readonly seq: number; readonly sha256: string },
): Promise<void> {
  const announced = await findHead(tx, workspace, given.seq)
  if (announced === null || announced.sha256 === given.sha256) return
  throw new DomainError('CHAIN_BROKEN', {
    seq: given.seq,
    announced: { sha256: announced.sha256, at: announced.announcedAt.toISOString() },
  })
}

async function refuseContradiction(tx: Connection, head: ChainHead): Promise<void> {
  if (head.sha256 === null) return
  await checkAgainstHead(tx, head.workspace, { seq: head.seq, sha256: head.sha256 })
  const known = await findChainSha256(tx, head.workspace, head.seq)
  if (known !== null && known !== head.sha256)
    throw new DomainError('CHAIN_BROKEN', { seq: head.seq, head: { seq: head.seq, sha256: known } })
}

function parseHead(text: string): ChainHead {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    throw new DomainError('VALIDATION_FAILED', { why: 'json' }, { cause: error })
  }
  const parsed = chainHeadSchema.safeParse(json)
  if (!parsed.success) throw invalid(parsed.error)
  return parsed.data
}
