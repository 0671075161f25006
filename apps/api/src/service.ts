import { once } from 'node:events'
import { createServer as createProbe } from 'node:net'
import { join } from 'node:path'
import type { Person } from '@turnback/core/api'
import { openPostgresBus } from '#bus/postgres-bus.ts'
import { openDatabase } from '#db/client.ts'
import { migrateDatabase } from '#db/migrate.ts'
import { startEmbeddedPostgres } from '#embedded/index.ts'
import { ensurePerson, makeLoginCode, type NewPerson, renewSetupCode } from '#modules/accounts/index.ts'
import { forgetOldAnswers } from '#modules/idempotency/index.ts'
import { forgetOldNonces, makeEnrollment } from '#modules/machines/index.ts'
import { expireRestores } from '#modules/restores/index.ts'
import { openFsObjectStore } from '#objects/fs-object-store.ts'
import { buildApp } from './app.ts'
import { readOrMakeSecret, type ServiceConfig } from './config.ts'
import type { Deps } from './deps.ts'
import { loggerOptions } from './log.ts'

const VERSION = '0.0.0'
const TIDY_MS = 10_000
/** How many ports above the wished one are tried. */
const PORTS_TRIED = 50

/** What only the process that runs the service can do. None of it has an address. */
export interface Operator {
  /** The link that makes the first administrator, or null when there are people already. Each call makes it anew. */
  makeSetupLink(): Promise<string | null>
  ensurePerson(given: NewPerson & { readonly isAdmin: boolean }): Promise<Person>
  /** A link that signs a person in: once, within ten minutes. */
  makeLoginLink(personId: string): Promise<string>
  /** A code that enrolls one machine for a person, and the command to type there. */
  makeEnrollment(personId: string): Promise<{ code: string; command: string }>
}

export interface Service {
  readonly url: string
  readonly operator: Operator
  /** Ends everything that was started. */
  stop(): Promise<void>
}

/**
 * Starts the service: database (the embedded one, unless another is given), object store, API, front door.
 * @param config.port the wished one; the next free one is taken
 */
export async function startService(config: ServiceConfig): Promise<Service> {
  const cleanups: (() => Promise<void>)[] = []
  const stop = async () => {
    for (const clean of cleanups.splice(0).reverse()) await clean()
  }
  try {
    const databaseUrl = config.databaseUrl ?? (await startDatabase(config.dataDir, cleanups))
    await migrateDatabase(databaseUrl)
    const database = openDatabase(databaseUrl)
    cleanups.push(() => database.close())
    const bus = await openPostgresBus(database.sql)
    cleanups.push(() => bus.close())
    const port = await findFreePort(config.host, config.port)
    const publicUrl =
      config.publicUrl ?? `http://${isAnyAddress(config.host) ? '127.0.0.1' : config.host}:${port}`
    const deps: Deps = {
      db: database.db,
      bus,
      objects: await openFsObjectStore(join(config.dataDir, 'objects')),
      clock: { nowMs: () => Date.now() },
      config: {
        publicUrl,
        webOrigin: config.webOrigin,
        secret: config.secret ?? readOrMakeSecret(config.dataDir),
        trustedProxies: config.trustedProxies,
        version: VERSION,
      },
    }
    const app = await buildApp(deps, { logger: loggerOptions(config.logLevel) })
    cleanups.push(() => app.close())
    await app.listen({ host: config.host, port })
    const tidy = setInterval(() => {
      Promise.all([expireRestores(deps), forgetOldNonces(deps), forgetOldAnswers(deps)]).catch(
        (error: unknown) => {
          app.log.error({ err: error }, 'tidying failed')
        },
      )
    }, TIDY_MS)
    cleanups.push(async () => clearInterval(tidy))
    return { url: publicUrl, operator: operatorOf(deps), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

function operatorOf(deps: Deps): Operator {
  const { publicUrl } = deps.config
  return {
    makeSetupLink: async () => {
      const code = await renewSetupCode(deps)
      return code === null ? null : `${publicUrl}/setup#${code}`
    },
    ensurePerson: (given) => ensurePerson(deps, given),
    makeLoginLink: async (personId) => `${publicUrl}/login#${await makeLoginCode(deps, personId)}`,
    makeEnrollment: (personId) => makeEnrollment(deps, { id: personId, byOperator: true }, null, null),
  }
}

async function startDatabase(dataDir: string, cleanups: (() => Promise<void>)[]): Promise<string> {
  const running = await startEmbeddedPostgres({ dataDir })
  cleanups.push(() => running.stop())
  return running.url
}

function isAnyAddress(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}

async function findFreePort(host: string, wished: number): Promise<number> {
  for (let port = wished; port < wished + PORTS_TRIED; port++) {
    const probe = createProbe()
    try {
      probe.listen(port, host)
      await once(probe, 'listening')
      const address = probe.address()
      if (address !== null && typeof address !== 'string') return address.port
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error
    } finally {
      probe.close()
    }
  }
  throw new Error(`no free port from ${wished} to ${wished + PORTS_TRIED - 1} on ${host}`)
}
