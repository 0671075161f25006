import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { migrateDatabase } from '#db/migrate.ts'
import { makeDatabase } from './set-up/database.ts'

let database: Awaited<ReturnType<typeof makeDatabase>>
let sql: postgres.Sql

beforeAll(async () => {
  database = await makeDatabase()
  sql = postgres(database.url, { max: 2, onnotice: () => undefined })
})

afterAll(async () => {
  await sql.end()
  await database.drop()
})

test('several instances may migrate at once, and again', async () => {
  await sql`drop schema public cascade`
  await sql`drop schema drizzle cascade`
  await sql`create schema public`
  await Promise.all([
    migrateDatabase(database.url),
    migrateDatabase(database.url),
    migrateDatabase(database.url),
  ])
  await migrateDatabase(database.url)
  expect(await sql`select count(*)::int as n from turns`).toEqual([{ n: 0 }])
})

test('audit events can be added, never changed or removed', async () => {
  await sql`insert into audit_events (actor_kind, action, objects, facts) values ('operator', 'test', '{}', '{}')`
  const refused = 'audit_events is append-only'
  await expect(sql`update audit_events set action = 'other'`).rejects.toThrow(refused)
  await expect(sql`delete from audit_events`).rejects.toThrow(refused)
  await expect(sql`truncate audit_events`).rejects.toThrow(refused)
  expect(await sql`select action from audit_events`).toEqual([{ action: 'test' }])
})
