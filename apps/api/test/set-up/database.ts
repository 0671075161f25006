import { randomBytes } from 'node:crypto'
import postgres from 'postgres'
import { inject } from 'vitest'
import { TEMPLATE } from './template.ts'

/** A fresh, migrated database of its own. */
export async function makeDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const server = inject('databaseServer')
  const name = `t_${randomBytes(6).toString('hex')}`
  await onServer(server, (sql) => sql.unsafe(`create database ${name} template ${TEMPLATE}`))
  const url = new URL(server)
  url.pathname = `/${name}`
  return {
    url: url.href,
    drop: () => onServer(server, (sql) => sql.unsafe(`drop database ${name} with (force)`)),
  }
}

async function onServer(server: string, work: (sql: postgres.Sql) => Promise<unknown>): Promise<void> {
  const sql = postgres(server, { max: 1, onnotice: () => undefined })
  try {
    await work(sql)
  } finally {
    await sql.end()
  }
}
