import { index, pgTable, text, timestamp } from 'drizzle-orm/pg-core'
import { bytea } from '#db/columns.ts'

const at = () => timestamp({ withTimezone: true })

/** Answers kept for `Idempotency-Key`. Neither the keys nor the answers can be read from here. */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    /** Keyed hash of actor and key. */
    id: bytea().primaryKey(),
    /** Keyed hash of the request. */
    request: bytea().notNull(),
    /** Of the try that holds the key: what it did stands under it in the audit. */
    requestId: text().notNull(),
    createdAt: at().notNull(),
    /** Until when the try that holds the key is taken to be at work. */
    busyUntil: at().notNull(),
    /** Sealed; null as long as there is none. */
    answer: bytea(),
  },
  (t) => [index('idempotency_keys_created').on(t.createdAt)],
)
