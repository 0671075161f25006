import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { DomainError } from '@turnback/core'
import type { Person } from '@turnback/core/api'
import { inTx } from '#db/tx.ts'
import type { Deps } from '#deps.ts'
import type { PersonActor } from '#http/actor.ts'
import { recordEvent } from '#modules/audit/index.ts'
import { type Auth, beginSession } from './auth.ts'
import { hashPassword } from './password.ts'
import {
  deleteCodes,
  findPerson,
  findPersonByEmail,
  hasPeople,
  insertCode,
  insertPerson,
  lockPeople,
  useCode,
} from './queries.ts'

const SETUP_CODE_MS = 24 * 3600 * 1000
const LOGIN_CODE_MS = 10 * 60 * 1000

export interface NewPerson {
  readonly name: string
  readonly email: string
  readonly password: string
}

export async function authenticatePerson(auth: Auth, headers: Headers): Promise<PersonActor> {
  const found = await auth.api.getSession({ headers })
  if (found === null) throw new DomainError('UNAUTHENTICATED')
  const { user, session } = found
  return {
    kind: 'person',
    id: user.id,
    name: user.name,
    email: user.email,
    isAdmin: user.isAdmin === true,
    signedInAt: session.createdAt,
  }
}

/**
 * The code that makes the first administrator, or null when there are people already. Each call makes a new one
 * and the earlier ones worthless: only its hash is kept, so it cannot be shown again.
 */
export async function renewSetupCode(deps: Deps): Promise<string | null> {
  const { code, hash } = makeCode()
  return await inTx(deps.db, async (tx) => {
    if (await hasPeople(tx)) return null
    await deleteCodes(tx, 'setup')
    const expiresAt = new Date(deps.clock.nowMs() + SETUP_CODE_MS)
    await insertCode(tx, { hash, purpose: 'setup', userId: null, expiresAt })
    return code
  })
}

export async function setUpFirstPerson(
  deps: Deps,
  given: NewPerson & { readonly code: string },
  requestId: string,
): Promise<Person> {
  const passwordHash = await hashPassword(given.password)
  return await inTx(deps.db, async (tx) => {
    await lockPeople(tx)
    const used = await useCode(tx, {
      hash: hashOf(given.code),
      purpose: 'setup',
      now: new Date(deps.clock.nowMs()),
    })
    if (used === null || (await hasPeople(tx))) throw new DomainError('SETUP_CODE_INVALID')
    const person = { id: randomUUID(), name: given.name, email: given.email.toLowerCase(), isAdmin: true }
    await insertPerson(tx, { ...person, passwordHash, credentialId: randomUUID() })
    await recordEvent(tx, { actor: { kind: 'person', id: person.id }, action: 'setup.done', requestId })
    return person
  })
}

/** For whoever runs the service, in its own process: the person with this address, made if there is none. */
export async function ensurePerson(
  deps: Deps,
  given: NewPerson & { readonly isAdmin: boolean },
): Promise<Person> {
  const passwordHash = await hashPassword(given.password)
  return await inTx(deps.db, async (tx) => {
    await lockPeople(tx)
    const existing = await findPersonByEmail(tx, given.email)
    if (existing !== null) return existing
    const person = {
      id: randomUUID(),
      name: given.name,
      email: given.email.toLowerCase(),
      isAdmin: given.isAdmin,
    }
    await insertPerson(tx, { ...person, passwordHash, credentialId: randomUUID() })
    await recordEvent(tx, {
      actor: { kind: 'operator', id: null },
      action: 'setup.done',
      objects: { person: person.id },
    })
    return person
  })
}

/** For whoever runs the service, in its own process: a code that signs a person in, once, within ten minutes. */
export async function makeLoginCode(deps: Deps, personId: string): Promise<string> {
  const { code, hash } = makeCode()
  const expiresAt = new Date(deps.clock.nowMs() + LOGIN_CODE_MS)
  await inTx(deps.db, async (tx) => {
    await insertCode(tx, { hash, purpose: 'login', userId: personId, expiresAt })
    const objects = { person: personId }
    await recordEvent(tx, { actor: { kind: 'operator', id: null }, action: 'login-link.made', objects })
  })
  return code
}

export async function signInWithCode(
  deps: Deps,
  auth: Auth,
  code: string,
  requestId: string,
): Promise<{ person: Person; cookie: string }> {
  const now = new Date(deps.clock.nowMs())
  const person = await inTx(deps.db, async (tx) => {
    const used = await useCode(tx, { hash: hashOf(code), purpose: 'login', now })
    const found =
      used?.userId === undefined || used.userId === null ? null : await findPerson(tx, used.userId)
    if (found === null)
      throw new DomainError('SIGN_IN_FAILED', {}, { message: 'This link is wrong, used or too old.' })
    await recordEvent(tx, { actor: { kind: 'person', id: found.id }, action: 'sign-in.by-link', requestId })
    return found
  })
  return { person, cookie: await beginSession(auth, person.id) }
}

function makeCode(): { code: string; hash: Uint8Array } {
  const code = randomBytes(32).toString('base64url')
  return { code, hash: hashOf(code) }
}

/** The codes are 256 random bits: a fast hash is enough. */
function hashOf(code: string): Uint8Array {
  return createHash('sha256').update(code).digest()
}
