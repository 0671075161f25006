import type { Deps } from '#deps.ts'
import { recordEvent } from '#modules/audit/index.ts'
import { findPersonByEmail } from './queries.ts'

/** Notes that somebody signed in, or tried to. An address that is nobody's is not written down. */
export async function recordSignIn(
  deps: Deps,
  email: string,
  isDone: boolean,
  requestId: string,
): Promise<void> {
  const person = await findPersonByEmail(deps.db, email)
  await recordEvent(deps.db, {
    actor: isDone && person !== null ? { kind: 'person', id: person.id } : { kind: 'anonymous', id: null },
    action: isDone ? 'sign-in.done' : 'sign-in.failed',
    objects: person === null ? {} : { person: person.id },
    requestId,
  })
}
