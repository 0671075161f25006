import { createHash } from 'node:crypto'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { TurnId } from '@turnback/core'
import type { Machine, Restore } from '@turnback/core/api'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { gcParts } from '#cli/gc-parts.ts'
import { collectGarbage } from '#store/gc.ts'
import { processes } from '#store/process.ts'
import { connectCaller, getConnection, loginFile } from '#sync/login.ts'
import { sendHead } from '#sync/push-heads.ts'
import { describeSync } from '#sync/status.ts'
import { type Ran, turnback } from './support/command-line.ts'
import { makeMachine, type TestMachine } from './support/machine.ts'
import { type RealService, startRealService } from './support/service.ts'

/** The real service, the real command line, real folders. */
let service: RealService
let machine: TestMachine

beforeAll(async () => {
  service = await startRealService()
})
afterAll(() => service.stop())

const SECRET = 'DATABASE_URL=postgres://app:violet-otter-5521@db/prod\n'
const LOCAL = 'DATABASE_URL=postgres://app:violet-otter-5521@localhost/dev\n'
const CSS = 'body { color: black }\n'

beforeEach(async () => {
  machine = await makeMachine((root) => {
    writeFileSync(join(root, 'styles.css'), CSS)
    writeFileSync(join(root, '.env'), SECRET)
  })
})
afterEach(async () => {
  await run('disconnect')
  machine.close()
})

const run = (...args: string[]): Promise<Ran> => turnback(machine.env, machine.root, ...args, '--json')
/** What `status` says of sync, without a process for each look. */
const status = () => describeSync(machine.deps, machine.env)
const file = (name: string) => readFileSync(join(machine.root, name), 'utf8')

async function logIn(...args: string[]): Promise<Ran> {
  return run('login', await service.makeEnrollmentLink(), ...args)
}

const changeCss = (text: string) => machine.turn(() => writeFileSync(join(machine.root, 'styles.css'), text))

async function turnsOfMachine() {
  const { machine: own } = machine.deps.identity()
  return (await service.listTurns()).filter((turn) => turn.machine === own)
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 20))
}

describe('login', () => {
  it('enrols the machine, writes down where, and takes the careful policy without a terminal', async () => {
    const ran = await logIn('--name', 'laptop')
    expect(ran.code).toBe(0)
    expect(ran.json).toMatchObject({
      server: `${service.url}/`,
      owner: { email: 'ada@example.com' },
      policy: { remote: 'ask' },
    })
    expect(statSync(loginFile(machine.deps.home)).mode & 0o777).toBe(0o600)
    const { items } = await service.call<{ items: Machine[] }>('GET', '/v1/machines')
    const seen = items.find(({ id }) => id === machine.deps.identity().machine)
    expect(seen).toMatchObject({ name: 'laptop', isMine: true, fingerprint: ran.json.fingerprint })
  })

  it('takes a code once, and says so of a wrong one', async () => {
    const link = await service.makeEnrollmentLink()
    expect((await run('login', link)).code).toBe(0)
    const again = await run('login', link)
    expect(again.code).toBe(1)
    expect(again.json).toMatchObject({ error: { code: 'ENROLLMENT_CODE_INVALID' } })
    expect((await run('login', service.url, '--code', 'AAAAAAAAAAA.wrong')).json).toMatchObject({
      error: { code: 'ENROLLMENT_CODE_INVALID' },
    })
    expect((await run('login', service.url)).code).toBe(2)
  })

  it('refuses a policy that there is not before it uses the code up', async () => {
    const link = await service.makeEnrollmentLink()
    expect((await run('login', link, '--policy', 'owner-passkey')).code).toBe(2)
    expect((await run('login', link, '--policy', 'owner')).json).toMatchObject({
      policy: { remote: 'owner' },
    })
  })
})

describe('push', () => {
  it('wants a login, and then sends everything once', async () => {
    const turn = await changeCss('body { color: red }\n')
    expect((await run('push')).code).toBe(5)
    await logIn()
    expect((await run('push')).json).toEqual({ pushed: 1, reports: 0, unpushed: 0, setAside: [] })
    expect((await run('push')).json).toEqual({ pushed: 0, reports: 0, unpushed: 0, setAside: [] })
    expect(await turnsOfMachine()).toMatchObject([{ turn, changed: 1, kind: 'agent' }])
    expect((await run('status')).json).toMatchObject({ unpushed: 0, setAside: [], connected: false })
    const shown = await service.call<{ items: object[] }>('GET', `/v1/turns/${turn}/diff`)
    expect(shown.items).toMatchObject([{ path: 'styles.css', additions: 1, deletions: 1 }])
  })

  it('sends what was found changed by a look that no turn’s end followed', async () => {
    await logIn()
    const turn = await changeCss('body { color: red }\n')
    writeFileSync(join(machine.root, 'mine.txt'), 'by hand\n')
    expect((await run('preview', turn)).code).toBe(0)
    expect(machine.deps.log.countOutbox().unpushed).toBe(1)
    expect((await run('push')).json).toMatchObject({ pushed: 2, unpushed: 0 })
    expect((await turnsOfMachine()).map(({ kind }) => kind).sort()).toEqual(['agent', 'outside'])
  })

  it('goes on from turns that retention removed before they were sent', async () => {
    const turns = []
    for (const color of ['red', 'green', 'blue', 'gray'])
      turns.push(await changeCss(`body { color: ${color} }\n`))
    const limits = { retentionDays: 14, retentionTurns: 2, budgetBytes: 5e9 }
    expect(await collectGarbage(gcParts(machine.deps, {}, { limits }))).toMatchObject({ turns: 2 })
    await logIn()
    expect((await run('push')).json).toMatchObject({ pushed: 2, unpushed: 0, setAside: [] })
    expect((await turnsOfMachine()).map(({ turn }) => turn).sort()).toEqual(turns.slice(2).sort())
    expect((await run('push')).json).toMatchObject({ pushed: 0, unpushed: 0 })
    // What was sent can go now, and what comes after it is sent as ever.
    turns.push(await changeCss('body { color: white }\n'))
    expect(await collectGarbage(gcParts(machine.deps, machine.env, { limits }))).toMatchObject({ turns: 1 })
    expect((await run('push')).json).toMatchObject({ pushed: 1 })
  })

  it('sends the reports of local restores', async () => {
    await logIn()
    const turn = await changeCss('body { color: red }\n')
    const { json } = await run('undo')
    expect((await run('push')).json).toMatchObject({ pushed: 2, reports: 1 })
    const restore = await service.call<Restore>('GET', `/v1/restores/${json.restore}`)
    expect(restore).toMatchObject({
      status: 'done',
      turn,
      requestedBy: { kind: 'local' },
      report: { restored: ['styles.css'] },
    })
    expect((await turnsOfMachine()).find((seen) => seen.turn === turn)?.undone).toBe('yes')
  })

  it('never lets the bytes of .env out in plain', async () => {
    await logIn()
    const turn = await machine.turn(() => {
      writeFileSync(join(machine.root, '.env'), LOCAL)
      writeFileSync(join(machine.root, 'styles.css'), '/* a-marker-that-may-be-seen */\n')
    })
    expect((await run('push')).json).toMatchObject({ pushed: 1 })
    const { items } = await service.call<{ items: { path: string; sealed: boolean }[] }>(
      'GET',
      `/v1/turns/${turn}/entries`,
    )
    expect(items).toMatchObject([
      { path: '.env', sealed: true },
      { path: 'styles.css', sealed: false },
    ])
    const found = { secret: [] as string[], marker: [] as string[] }
    for (const { name, bytes } of service.keptBytes()) {
      for (const form of [bytes, ...unpackedFrames(bytes)]) {
        if (form.includes('violet-otter')) found.secret.push(name)
        if (form.includes('a-marker-that-may-be-seen')) found.marker.push(name)
      }
    }
    expect(found.marker.length).toBeGreaterThan(0)
    expect(found.secret).toEqual([])
    expect(service.words()).not.toContain('violet-otter')
    expect(readFileSync(join(machine.deps.home.logs, 'push.log'), 'utf8')).not.toContain('violet-otter')
  })
})

/** Everything in these bytes that is a zstd frame, unpacked. */
function unpackedFrames(bytes: Buffer): Buffer[] {
  const magic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd])
  const found: Buffer[] = []
  for (let at = bytes.indexOf(magic); at >= 0; at = bytes.indexOf(magic, at + 1)) {
    try {
      found.push(zstdDecompressSync(bytes.subarray(at)))
    } catch {
      // The four bytes stood there by chance.
    }
  }
  return found
}

describe('a log that is altered here', () => {
  /** As somebody would who has this machine's keys: the last turn with another prompt, signed anew. */
  function alterLast(turn: TurnId): void {
    const { log, identity } = machine.deps
    const manifest = { ...log.getManifest(turn), prompt: 'nothing to see here' }
    const envelope = identity().signEnvelope('turn', Buffer.from(JSON.stringify(manifest)))
    const db = new DatabaseSync(join(machine.deps.home.store, 'turnback.db'))
    const sha256 = createHash('sha256').update(envelope).digest('hex')
    db.prepare('UPDATE envelopes SET zstd = ?, sha256 = ? WHERE turn = ?').run(
      zstdCompressSync(envelope),
      sha256,
      turn,
    )
    db.prepare('UPDATE workspaces SET head_sha256 = ?').run(sha256)
    db.close()
  }

  async function sendHeads(): Promise<void> {
    const { deps } = machine
    const caller = connectCaller(deps, getConnection(deps.home, machine.env))
    const { log, blobs, clock } = deps
    const parts = { log, blobs, clock, identity: deps.identity(), caller, note: () => undefined }
    try {
      for (const head of log.listHeadsToPush()) await sendHead(parts, head)
    } finally {
      caller.close()
    }
  }

  it.each([
    ['is found out when a turn had begun, and the service was told', true],
    ['is not when it was not told: the check is what finds it', false],
  ])('before it was sent: %s', async (_what, isTold) => {
    await logIn()
    await changeCss('body { color: red }\n')
    await run('push')
    const second = await changeCss('body { color: blue }\n')
    await machine.begin()
    if (isTold) await sendHeads()
    else for (const head of machine.deps.log.listHeadsToPush()) machine.deps.log.deleteHeadToPush(head)
    alterLast(second)
    const { code, json } = await run('push')
    if (isTold) {
      expect(code).not.toBe(0)
      expect(json).toMatchObject({ error: { code: 'CHAIN_BROKEN' } })
    } else expect(json).toMatchObject({ pushed: 1, unpushed: 0 })
    expect((await turnsOfMachine()).length).toBe(isTold ? 1 : 2)
  })
})

describe('a service that is killed', () => {
  it('in the middle of a push and started again: nothing is lost and nothing doubled', async () => {
    await logIn()
    const made: string[] = []
    for (let i = 0; i < 12; i++) {
      made.push(
        await machine.turn(() =>
          writeFileSync(join(machine.root, `f${i}.bin`), Buffer.alloc(300_000, `${i} `)),
        ),
      )
    }
    const before = machine.deps.log.countOutbox().unpushed
    expect(before).toBe(12)
    const pushing = run('push')
    await until(() => machine.deps.log.countOutbox().unpushed < before - 2)
    await service.kill()
    const cut = await pushing
    expect(cut.code).toBe(4)
    expect(cut.json).toMatchObject({ error: { code: 'SERVER_UNREACHABLE' }, setAside: [] })
    const waiting = machine.deps.log.countOutbox().unpushed
    expect(waiting).toBeGreaterThan(0)
    expect((await run('status')).json).toMatchObject({
      unpushed: waiting,
      lastError: { code: 'SERVER_UNREACHABLE' },
    })
    await service.startAgain()
    expect((await run('push')).json).toMatchObject({ unpushed: 0, setAside: [] })
    const seen = await turnsOfMachine()
    expect(seen.map(({ turn }) => turn).sort()).toEqual(made.sort())
  })
})

describe('the resident', () => {
  async function connect(policy: string): Promise<void> {
    await logIn('--policy', policy)
    expect((await run('connect')).code).toBe(0)
    await until(() => status().connected)
  }

  it('is one, sends a turn soon after its end, and goes when told', async () => {
    await connect('owner')
    const first = (await run('connect')).json
    expect(first.alreadyRunning).toBe(true)
    const turn = await changeCss('body { color: red }\n')
    const endedAt = performance.now()
    await until(() => machine.deps.log.countOutbox().unpushed === 0)
    // Long before it would have looked by itself.
    expect(performance.now() - endedAt).toBeLessThan(50_000)
    expect((await turnsOfMachine()).map((seen) => seen.turn)).toEqual([turn])
    expect((await run('disconnect')).json).toEqual({ connected: false, stopped: first.pid })
    // Its number may stay until its parent has asked for its end.
    expect(processes.find(Number(first.pid))).toBeNull()
    expect((await run('status')).json).toMatchObject({ connected: false, resident: null })
  })

  it('signs and sends what a look found, unless an agent is at work', async () => {
    await connect('owner')
    const turn = await changeCss('body { color: red }\n')
    writeFileSync(join(machine.root, 'mine.txt'), 'by hand\n')
    await run('preview', turn)
    await until(async () => (await turnsOfMachine()).some(({ kind }) => kind === 'outside'))
    writeFileSync(join(machine.root, 'mine.txt'), 'by hand again\n')
    await machine.begin()
    await until(() => machine.deps.log.listHeadsToPush().length === 0)
    expect(machine.deps.capture.isSettled(machine.workspace)).toBe(false)
  })

  it('tells where the log ends as soon as a turn begins', async () => {
    await connect('owner')
    await changeCss('body { color: red }\n')
    await machine.begin()
    await until(() => machine.deps.log.listHeadsToPush().length === 0)
    const words = readFileSync(join(machine.deps.home.logs, 'connect.log'), 'utf8')
    expect(words).toMatch(/head-sent.*"number":2/)
    expect(status().lastError).toBeUndefined()
  })

  it('waits without a login, and takes it up when it comes', async () => {
    expect((await run('connect')).json).toMatchObject({ loggedIn: false })
    expect((await run('status')).json).toMatchObject({
      connected: false,
      resident: { link: 'not-logged-in' },
    })
    await changeCss('body { color: red }\n')
    await logIn()
    await until(() => machine.deps.log.countOutbox().unpushed === 0)
  })

  it('owner: one tap rewinds, another one takes it back', async () => {
    await connect('owner')
    const turn = await machine.turn(() => {
      writeFileSync(join(machine.root, 'styles.css'), 'body { color: red }\n')
      writeFileSync(join(machine.root, '.env'), LOCAL)
    })
    await until(async () => (await turnsOfMachine()).length === 1)
    const asked = await service.requestRestore(machine.workspace.id, turn, 'run')
    const done = await service.awaitRestore(asked.id, ({ status }) => status === 'done')
    expect(done.report).toMatchObject({ restored: ['.env', 'styles.css'], deleted: [], verified: true })
    expect([file('styles.css'), file('.env')]).toEqual([CSS, SECRET])
    await until(async () => (await turnsOfMachine()).find((seen) => seen.turn === turn)?.undone === 'yes')
    const back = await service.call<Restore>('POST', `/v1/restores/${asked.id}/undo`)
    await service.awaitRestore(back.id, ({ status }) => status === 'done')
    expect([file('styles.css'), file('.env')]).toEqual(['body { color: red }\n', LOCAL])
  })

  it('owner: with an edit by hand it waits for a second word, and keeps the edit', async () => {
    await connect('owner')
    const turn = await machine.turn(() => {
      writeFileSync(join(machine.root, 'styles.css'), 'body { color: red }\n')
      writeFileSync(join(machine.root, 'new.css'), 'x\n')
    })
    writeFileSync(join(machine.root, 'styles.css'), 'mine\n')
    await until(async () => (await turnsOfMachine()).length > 0)
    const asked = await service.requestRestore(machine.workspace.id, turn, 'run')
    const planned = await service.awaitRestore(asked.id, ({ status }) => status === 'awaiting-confirmation')
    expect(planned.plan?.conflicts).toMatchObject([{ path: 'styles.css' }])
    await service.call('POST', `/v1/restores/${asked.id}/confirm`, { token: planned.plan?.token })
    const done = await service.awaitRestore(asked.id, ({ status }) => status === 'done')
    expect(done.report).toMatchObject({
      deleted: ['new.css'],
      kept: [{ path: 'styles.css', reason: 'changed-after-turn' }],
    })
    expect(file('styles.css')).toBe('mine\n')
  })

  it('ask: a plan comes, the word from afar does not count, the one typed here does', async () => {
    await connect('ask')
    const turn = await changeCss('body { color: red }\n')
    await until(async () => (await turnsOfMachine()).length === 1)
    const asked = await service.requestRestore(machine.workspace.id, turn, 'run')
    const planned = await service.awaitRestore(asked.id, ({ status }) => status === 'awaiting-confirmation')
    const token = planned.plan?.token ?? ''
    expect(status().pendingRemote).toMatchObject([
      { restore: asked.id, turn, requestedBy: { kind: 'user' }, command: `turnback approve ${asked.id}` },
    ])
    await service.call('POST', `/v1/restores/${asked.id}/confirm`, { token })
    const refused = await service.awaitRestore(asked.id, ({ status }) => status === 'refused')
    expect(refused.error?.code).toBe('POLICY_REFUSED')
    expect(file('styles.css')).toBe('body { color: red }\n')
    expect((await run('restore', turn, '--token', token)).json).toMatchObject({
      status: 'done',
      restored: ['styles.css'],
    })
    expect(file('styles.css')).toBe(CSS)
  })

  it('ask: a yes given here carries the very plan out, and the one who asked sees it done', async () => {
    await connect('ask')
    const turn = await changeCss('body { color: red }\n')
    await until(async () => (await turnsOfMachine()).length === 1)
    const asked = await service.requestRestore(machine.workspace.id, turn, 'run')
    await service.awaitRestore(asked.id, ({ status }) => status === 'awaiting-confirmation')
    expect(file('styles.css')).toBe('body { color: red }\n')
    const pending = (await run('status')).json.pendingRemote
    expect(pending).toMatchObject([{ restore: asked.id, turn }])
    const approved = await run('approve', asked.id)
    expect(approved).toMatchObject({ code: 0, json: { restore: asked.id, status: 'done', verified: true } })
    expect(file('styles.css')).toBe(CSS)
    const done = await service.awaitRestore(asked.id, ({ status }) => status === 'done')
    expect(done.report).toMatchObject({ restore: asked.id, restored: ['styles.css'], verified: true })
    expect(status().pendingRemote).toEqual([])
    expect(await run('approve', asked.id)).toMatchObject({
      code: 3,
      json: { error: { code: 'PLAN_UNKNOWN' } },
    })
    expect((await run('approve', 'r_nothing')).code).toBe(2)
  })

  it('off: there is not even a plan; and a change of the policy counts at once', async () => {
    await connect('off')
    const turn = await changeCss('body { color: red }\n')
    await until(async () => (await turnsOfMachine()).length === 1)
    const asked = await service.requestRestore(machine.workspace.id, turn, 'run')
    const refused = await service.awaitRestore(asked.id, ({ status }) => status === 'refused')
    expect(refused).toMatchObject({ plan: null, error: { code: 'POLICY_REFUSED' } })
    expect((await run('policy', 'set', 'remote', 'owner')).code).toBe(0)
    const again = await service.requestRestore(machine.workspace.id, turn, 'run')
    await service.awaitRestore(again.id, ({ status }) => status === 'done')
    expect(file('styles.css')).toBe(CSS)
  })

  it('sends nothing and hears nothing while paused', async () => {
    await connect('owner')
    await run('pause')
    await until(() => !status().connected)
    await changeCss('body { color: red }\n')
    expect((await run('push')).code).toBe(3)
    expect((await run('status')).json).toMatchObject({ unpushed: 1, pausedUntil: 'resume' })
    await run('pause', '--end')
    await until(() => machine.deps.log.countOutbox().unpushed === 0)
  })

  it('comes back to a service that was away', async () => {
    await connect('owner')
    await service.kill()
    const turn = await changeCss('body { color: red }\n')
    await until(() => !status().connected)
    await service.startAgain()
    await until(() => machine.deps.log.countOutbox().unpushed === 0)
    const asked = await service.requestRestore(machine.workspace.id, turn, 'run')
    await service.awaitRestore(asked.id, ({ status }) => status === 'done')
    expect(file('styles.css')).toBe(CSS)
  })
})
