import type { MachineId, ProjectId } from '@turnback/core'
import type { Access, Role } from '@turnback/core/api'

/** A signed-in person. */
export interface PersonActor {
  readonly kind: 'person'
  readonly id: string
  readonly name: string
  readonly email: string
  readonly isAdmin: boolean
  readonly signedInAt: Date
}

/** A machine that signed the request. */
export interface MachineActor {
  readonly kind: 'machine'
  readonly id: MachineId
  readonly name: string
  readonly ownerId: string
  readonly defaultProject: ProjectId
  /** Ed25519, raw. */
  readonly publicKey: Uint8Array
}

/** A person, and the role in the route's project that let them in. */
export interface MemberActor extends PersonActor {
  readonly role: Role
}

export type ActorOf<A extends Access> = A extends { kind: 'public' }
  ? null
  : A extends { kind: 'machine' }
    ? MachineActor
    : A extends { kind: 'member' }
      ? MemberActor
      : PersonActor

/** One name for each actor there is, whatever its kind. */
export function actorName(actor: PersonActor | MachineActor | null): string {
  return actor === null ? 'anyone' : `${actor.kind}:${actor.id}`
}

/** What a request says of its sender, free of the web server. */
export interface Credentials {
  readonly method: string
  /** Path and query as in the request line. */
  readonly url: string
  readonly headers: Headers
}

/** Finds out who is asking. Implemented by the modules that know people and machines. */
export interface Authenticator {
  /** @throws DomainError UNAUTHENTICATED */
  person(credentials: Credentials): Promise<PersonActor>
  /** Also gives the hash that the body must have. @throws DomainError UNAUTHENTICATED, SIGNATURE_INVALID, MACHINE_REVOKED */
  machine(credentials: Credentials): Promise<{ readonly actor: MachineActor; readonly bodySha256: string }>
  /** The person's role in a project, or null when they have none. */
  role(personId: string, project: ProjectId): Promise<Role | null>
}

const RANK: Readonly<Record<Role, number>> = { viewer: 0, member: 1, lead: 2, admin: 3 }

export function isAtLeast(role: Role, wanted: Role): boolean {
  return RANK[role] >= RANK[wanted]
}
