import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import type { TestProject } from 'vitest/node'
import { migrateDatabase } from '#db/migrate.ts'
import { startEmbeddedPostgres } from '#embedded/index.ts'
import { TEMPLATE } from './set-up/template.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Of a server that holds one migrated database, to be cloned: see set-up/database.ts. */
    databaseServer: string
  }
}

/** One PostgreSQL for all integration tests, with one migrated database that each test file clones. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = mkdtempSync(join(tmpdir(), 'turnback-test-'))
  const running = await startEmbeddedPostgres({ dataDir, isDurable: false })
  const sql = postgres(running.url, { max: 1, onnotice: () => undefined })
  await sql.unsafe(`create database ${TEMPLATE}`)
  await sql.end()
  const template = new URL(running.url)
  template.pathname = `/${TEMPLATE}`
  await migrateDatabase(template.href)
  project.provide('databaseServer', running.url)
  return async () => {
    await running.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
}
