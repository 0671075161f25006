import { boolean, index, pgTable, text, timestamp, uniqueIndex } from 'drizzle-orm/pg-core'
import { bytea } from '#db/columns.ts'

const at = () => timestamp({ withTimezone: true })

/** users, sessions, credentials and verifications have the columns that better-auth asks for. */
export const users = pgTable('users', {
  id: text().primaryKey(),
  name: text().notNull(),
  email: text().notNull().unique(),
  emailVerified: boolean().notNull().default(false),
  image: text(),
  isAdmin: boolean().notNull().default(false),
  createdAt: at().notNull().defaultNow(),
  updatedAt: at().notNull().defaultNow(),
})

export const sessions = pgTable(
  'sessions',
  {
    id: text().primaryKey(),
    token: text().notNull().unique(),
    userId: text()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    expiresAt: at().notNull(),
    ipAddress: text(),
    userAgent: text(),
    createdAt: at().notNull().defaultNow(),
    updatedAt: at().notNull().defaultNow(),
  },
  (t) => [index('sessions_user').on(t.userId)],
)

export const credentials = pgTable(
  'credentials',
  {
    id: text().primaryKey(),
    accountId: text().notNull(),
    providerId: text().notNull(),
    userId: text()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    accessToken: text(),
    refreshToken: text(),
    idToken: text(),
    accessTokenExpiresAt: at(),
    refreshTokenExpiresAt: at(),
    scope: text(),
    password: text(),
    createdAt: at().notNull().defaultNow(),
    updatedAt: at().notNull().defaultNow(),
  },
  (t) => [
    uniqueIndex('credentials_provider_account').on(t.providerId, t.accountId),
    index('credentials_user').on(t.userId),
  ],
)

export const verifications = pgTable(
  'verifications',
  {
    id: text().primaryKey(),
    identifier: text().notNull(),
    value: text().notNull(),
    expiresAt: at().notNull(),
    createdAt: at().notNull().defaultNow(),
    updatedAt: at().notNull().defaultNow(),
  },
  (t) => [index('verifications_identifier').on(t.identifier)],
)

/** Codes that are good once: for the first administrator, for signing in by a printed link. Only their hash is kept. */
export const oneTimeCodes = pgTable('one_time_codes', {
  hash: bytea().primaryKey(),
  purpose: text({ enum: ['setup', 'login'] }).notNull(),
  userId: text().references(() => users.id, { onDelete: 'cascade' }),
  expiresAt: at().notNull(),
  usedAt: at(),
  createdAt: at().notNull().defaultNow(),
})
