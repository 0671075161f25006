import { eq } from 'drizzle-orm'
import type { Connection } from '#db/client.ts'
import { auditEvents } from '#db/schema/audit.ts'

export interface AuditEvent {
  readonly actor:
    | { readonly kind: 'person' | 'machine'; readonly id: string }
    | { readonly kind: 'operator' | 'anonymous'; readonly id: null }
  readonly action:
    | 'setup.done'
    | 'sign-in.done'
    | 'sign-in.failed'
    | 'sign-in.by-link'
    | 'login-link.made'
    | 'project.made'
    | 'enrollment.made'
    | 'machine.enrolled'
    | 'machine.revoked'
    | 'machine.refused'
    | 'link.broken-rules'
    | 'restore.requested'
    | 'restore.planned'
    | 'restore.confirmed'
    | 'restore.cancelled'
    | 'restore.reported'
    | 'restore.expired'
    | 'push.refused'
  readonly project?: string | null
  readonly objects?: Readonly<Record<string, string>>
  readonly facts?: Readonly<Record<string, string | number | boolean | null>>
  readonly requestId?: string | null
}

/** Adds to the record of who did what. In the same transaction as what it tells of, where there is one. */
export async function recordEvent(db: Connection, event: AuditEvent): Promise<void> {
  await db.insert(auditEvents).values({
    actorKind: event.actor.kind,
    actorId: event.actor.id,
    action: event.action,
    projectId: event.project ?? null,
    objects: event.objects ?? {},
    facts: event.facts ?? {},
    requestId: event.requestId ?? null,
  })
}

/** Whether a request did something. Looks through the whole table: for what happens after crashes only. */
export async function hasEventOf(db: Connection, requestId: string): Promise<boolean> {
  const [found] = await db
    .select({ id: auditEvents.id })
    .from(auditEvents)
    .where(eq(auditEvents.requestId, requestId))
    .limit(1)
  return found !== undefined
}
