import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TurnId, WorkspaceId } from '@turnback/core'
import type { Restore, TurnSummary } from '@turnback/core/api'

const MAIN = new URL(import.meta.resolve('@turnback/core')).pathname.replace(
  /packages\/core\/.*$/,
  'apps/api/src/main.ts',
)

/** The real service with a database of its own, as a process that can be killed and started again. */
export async function startRealService() {
  const dataDir = mkdtempSync(join(tmpdir(), 'turnback-service-'))
  const person = { name: 'Ada', email: 'ada@example.com', password: `pass-${randomBytes(8).toString('hex')}` }
  let running = await start(dataDir, '0')
  const { url } = running
  const port = new URL(url).port
  const code = /\/setup#(\S+)/.exec(running.words)?.[1]
  if (code === undefined) throw new Error(`no set-up link in: ${running.words}`)
  await ask(url, 'POST', '/v1/setup', { code, ...person }, null)
  const cookie = await signIn(url, person)

  const call = <T>(method: string, path: string, body?: object) => ask<T>(url, method, path, body, cookie)
  return {
    url,
    dataDir,
    call,
    /** `https://host/enroll#CODE`, as the machines page gives it. */
    async makeEnrollmentLink(): Promise<string> {
      const { code } = await call<{ code: string }>('POST', '/v1/machines/enrollments', {})
      return `${url}/enroll#${code}`
    },
    async listTurns(): Promise<TurnSummary[]> {
      const { items } = await call<{ items: { id: string }[] }>('GET', '/v1/projects')
      const pages = await Promise.all(
        items.map(({ id }) => call<{ items: TurnSummary[] }>('GET', `/v1/projects/${id}/turns?limit=200`)),
      )
      return pages.flatMap((page) => page.items)
    },
    requestRestore: (workspace: WorkspaceId, turn: TurnId, mode: 'preview' | 'run', more: object = {}) =>
      call<Restore>('POST', '/v1/restores', { workspace, turn, mode, ...more }),
    /** Waits until the restore is where it is expected to come. */
    async awaitRestore(id: string, isThere: (restore: Restore) => boolean): Promise<Restore> {
      for (;;) {
        const restore = await call<Restore>('GET', `/v1/restores/${id}?waitSeconds=2`)
        if (isThere(restore)) return restore
      }
    },
    async kill() {
      await end(running.child, 'SIGKILL')
    },
    async startAgain() {
      running = await start(dataDir, port)
    },
    /** Everything that the service keeps, as bytes: objects and the files of the database. */
    *keptBytes(): Generator<{ name: string; bytes: Buffer }> {
      for (const entry of readdirSync(dataDir, { recursive: true, withFileTypes: true })) {
        const name = join(entry.parentPath, entry.name)
        if (entry.isFile()) yield { name, bytes: readFileSync(name) }
      }
    },
    words: () => running.words,
    async stop() {
      await end(running.child, 'SIGTERM')
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

export type RealService = Awaited<ReturnType<typeof startRealService>>

async function start(dataDir: string, port: string) {
  const child = spawn(process.execPath, [MAIN], {
    env: { PATH: process.env.PATH, HOME: dataDir, PORT: port, TURNBACK_DATA: dataDir, LOG_LEVEL: 'info' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const running = { child, words: '', url: '' }
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const take = (text: string) => {
    running.words += text
    const at = /^Turnback is at (\S+)$/m.exec(running.words)?.[1]
    if (at !== undefined) resolve(at)
  }
  child.stdout.setEncoding('utf8').on('data', take)
  child.stderr.setEncoding('utf8').on('data', take)
  child.on('exit', (code) => reject(new Error(`the service ended with ${code}: ${running.words}`)))
  running.url = await promise
  return running
}

async function end(child: ChildProcess, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill(signal)
  await gone
}

async function signIn(
  url: string,
  { email, password }: { email: string; password: string },
): Promise<string> {
  const answer = await fetch(`${url}/v1/auth/sign-in/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify({ email, password }),
  })
  if (!answer.ok) throw new Error(`sign-in: ${answer.status} ${await answer.text()}`)
  return answer.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ')
}

async function ask<T>(
  url: string,
  method: string,
  path: string,
  body: object | undefined,
  cookie: string | null,
): Promise<T> {
  const answer = await fetch(url + path, {
    method,
    headers: {
      origin: url,
      ...(cookie === null ? {} : { cookie }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
  return JSON.parse(text) as T
}
