import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { DomainError, limits, type MachineId, type ProjectId } from '@turnback/core'
import { inTx } from '#db/tx.ts'
import type { Deps } from '#deps.ts'
import { findPersonsRole } from '#modules/accounts/index.ts'
import { recordEvent } from '#modules/audit/index.ts'
import { findOrMakeProject } from '#modules/projects/index.ts'
import { getOwner, getProjectName, insertEnrollment, takeTry, useEnrollment } from './enrollment-queries.ts'
import { findMachine, upsertMachine } from './queries.ts'
import { isSignedBy } from './signature.ts'

export interface EnrollmentGiven {
  readonly code: string
  readonly machine: MachineId
  readonly name: string
  readonly publicKey: string
  readonly recipient: string
  readonly proof: string
  readonly version: string
}

/** A code is `<name>.<secret>`: the name finds it, so that tries can be counted; only the secret's hash is kept. */
export async function makeEnrollment(
  deps: Deps,
  owner: { readonly id: string; readonly byOperator?: boolean },
  project: ProjectId | null,
  requestId: string | null,
): Promise<{ code: string; expiresAt: string; command: string }> {
  if (project !== null) {
    const role = await findPersonsRole(deps, owner.id, project)
    if (role === null || role === 'viewer') throw new DomainError('PROJECT_NOT_FOUND')
  }
  const id = randomBytes(8).toString('base64url')
  const secret = randomBytes(16).toString('base64url')
  const expiresAt = new Date(deps.clock.nowMs() + limits.enrollmentTtlSeconds * 1000)
  await inTx(deps.db, async (tx) => {
    const triesLeft = limits.enrollmentTries
    await insertEnrollment(tx, {
      id,
      hash: hashOf(secret),
      ownerId: owner.id,
      projectId: project,
      triesLeft,
      expiresAt,
    })
    const actor = owner.byOperator
      ? ({ kind: 'operator', id: null } as const)
      : ({ kind: 'person', id: owner.id } as const)
    await recordEvent(tx, {
      actor,
      action: 'enrollment.made',
      project,
      objects: { person: owner.id },
      requestId,
    })
  })
  const code = `${id}.${secret}`
  return {
    code,
    expiresAt: expiresAt.toISOString(),
    command: `turnback login '${deps.config.publicUrl}/#${code}'`,
  }
}

export async function enroll(deps: Deps, given: EnrollmentGiven, requestId: string) {
  const [id = '', secret = ''] = given.code.split('.')
  const now = new Date(deps.clock.nowMs())
  // Outside the transaction below: a try that failed stays taken.
  const enrollment = await takeTry(deps.db, id, now)
  if (enrollment === null || !timingSafeEqual(hashOf(secret), enrollment.hash))
    throw new DomainError('ENROLLMENT_CODE_INVALID')
  const publicKey = Buffer.from(given.publicKey, 'base64url')
  const text = `turnback/enroll/v1\n${given.code}\n${given.machine}\n${given.recipient}`
  if (!isSignedBy(publicKey, Buffer.from(text), given.proof)) throw new DomainError('SIGNATURE_INVALID')
  return await inTx(deps.db, async (tx) => {
    if (!(await useEnrollment(tx, id, now))) throw new DomainError('ENROLLMENT_CODE_INVALID')
    const known = await findMachine(tx, given.machine)
    // An id is its first key's: nobody takes another's place by naming it.
    if (known !== null && (known.ownerId !== enrollment.ownerId || !publicKey.equals(known.publicKey)))
      throw new DomainError('SIGNATURE_INVALID')
    const { ownerId } = enrollment
    const defaultProject =
      enrollment.projectId === null
        ? await findOrMakeProject(tx, now.getTime(), ownerId, null, requestId)
        : await getProjectName(tx, enrollment.projectId)
    const { machine, name, recipient, version } = given
    await upsertMachine(tx, {
      id: machine,
      ownerId,
      defaultProjectId: defaultProject.id,
      name,
      publicKey,
      recipient,
      version,
      enrolledAt: now,
    })
    await recordEvent(tx, {
      actor: { kind: 'person', id: ownerId },
      action: 'machine.enrolled',
      project: defaultProject.id,
      objects: { machine },
      facts: { again: known !== null },
      requestId,
    })
    return { machine, owner: await getOwner(tx, ownerId), defaultProject }
  })
}

function hashOf(secret: string): Uint8Array {
  return createHash('sha256').update(secret).digest()
}
