import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Person } from '@turnback/core/api'
import type { FastifyInstance } from 'fastify'
import { expect } from 'vitest'
import { buildApp } from '#app.ts'
import { openPostgresBus } from '#bus/postgres-bus.ts'
import { type Database, openDatabase } from '#db/client.ts'
import type { Deps } from '#deps.ts'
import { ensurePerson, makeLoginCode } from '#modules/accounts/index.ts'
import { openFsObjectStore } from '#objects/fs-object-store.ts'
import { type Answer, type Ask, call } from './call.ts'
import { makeDatabase } from './database.ts'
import { TestMachine } from './machine.ts'

export const ORIGIN = 'http://127.0.0.1:4600'
export const PASSWORD = 'correct horse battery'

/** A signed-in person's browser, without the browser. */
export class TestPerson {
  readonly person: Person
  readonly cookie: string
  readonly #app: FastifyInstance

  constructor(app: FastifyInstance, person: Person, cookie: string) {
    this.#app = app
    this.person = person
    this.cookie = cookie
  }

  async call(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH',
    url: string,
    ask: Ask = {},
  ): Promise<Answer> {
    return await call(this.#app, method, url, {
      ...ask,
      headers: { cookie: this.cookie, origin: ORIGIN, ...ask.headers },
    })
  }
}

export class TestClock {
  offsetMs = 0
  nowMs(): number {
    return Date.now() + this.offsetMs
  }
}

/** The real service on a database of its own, with a clock that can be set forward. */
export class Stack {
  readonly app: FastifyInstance
  readonly deps: Deps
  readonly clock: TestClock
  readonly database: Database
  readonly databaseUrl: string
  readonly folder: string
  readonly #cleanups: (() => Promise<unknown>)[]

  private constructor(
    parts: Pick<Stack, 'app' | 'deps' | 'clock' | 'database' | 'databaseUrl' | 'folder'>,
    cleanups: (() => Promise<unknown>)[],
  ) {
    this.app = parts.app
    this.deps = parts.deps
    this.clock = parts.clock
    this.database = parts.database
    this.databaseUrl = parts.databaseUrl
    this.folder = parts.folder
    this.#cleanups = cleanups
  }

  static async start(options: { webOrigin?: string } = {}): Promise<Stack> {
    const own = await makeDatabase()
    const database = openDatabase(own.url, { maxConnections: 6 })
    const bus = await openPostgresBus(database.sql)
    const folder = mkdtempSync(join(tmpdir(), 'turnback-api-'))
    const clock = new TestClock()
    const deps: Deps = {
      db: database.db,
      bus,
      objects: await openFsObjectStore(join(folder, 'objects')),
      clock,
      config: {
        publicUrl: ORIGIN,
        webOrigin: options.webOrigin ?? null,
        secret: randomBytes(32).toString('base64url'),
        trustedProxies: [],
        version: 'test',
      },
    }
    const app = await buildApp(deps)
    await app.ready()
    const cleanups = [
      () => own.drop(),
      async () => rmSync(folder, { recursive: true, force: true }),
      () => database.close(),
      () => bus.close(),
      () => app.close(),
    ]
    return new Stack({ app, deps, clock, database, databaseUrl: own.url, folder }, cleanups)
  }

  async stop(): Promise<void> {
    for (const clean of this.#cleanups.splice(0).reverse()) await clean()
  }

  async person(name: string, options: { isAdmin?: boolean } = {}): Promise<TestPerson> {
    const email = `${name.toLowerCase()}@example.test`
    const person = await ensurePerson(this.deps, {
      name,
      email,
      password: PASSWORD,
      isAdmin: options.isAdmin ?? false,
    })
    const code = await makeLoginCode(this.deps, person.id)
    const answer = await call(this.app, 'POST', '/v1/login-link', { body: { code } })
    expect(answer.status).toBe(200)
    return new TestPerson(this.app, person, cookieOf(answer))
  }

  /** A machine that `owner` enrolled. */
  async machine(owner: TestPerson, name = 'laptop'): Promise<TestMachine> {
    const machine = new TestMachine(this.app, this.clock, name)
    const made = await owner.call('POST', '/v1/machines/enrollments', { body: {} })
    expect(made.status).toBe(201)
    const answer = await machine.enroll(made.json.code)
    expect(answer.status).toBe(201)
    machine.project = answer.json.defaultProject.id
    return machine
  }
}

export function cookieOf(answer: Answer): string {
  const header = answer.headers['set-cookie']
  const [first] = Array.isArray(header) ? header : [header ?? '']
  return String(first).split(';')[0] ?? ''
}
