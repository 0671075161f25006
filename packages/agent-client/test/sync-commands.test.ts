import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type {
  Authoriser,
  PlanRequest,
  RestoreCommit,
  RestoreId,
  RestoreRequest,
  ServerMessage,
} from '@turnback/core'
import { DomainError, limits, parseEnvelopeHeader } from '@turnback/core'
import { type PlanBody, planBodySchema } from '@turnback/core/api'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { registerWorkspace } from '#capture/register.ts'
import type { TreeWriter } from '#ports.ts'
import { createRemoteRestores } from '#restore/remote.ts'
import { Commands } from '#sync/commands.ts'
import { changePolicy, policyFile } from '#sync/policy.ts'
import { RemotePlans } from '#sync/remote-plans.ts'
import { makeMachine, type TestMachine } from './support/machine.ts'

let machine: TestMachine
let commands: Commands
let acknowledged: string[]
let notes: { event: string; facts: Readonly<Record<string, unknown>> }[]

const BEFORE = 'body { color: black }\n'
const AFTER = 'body { color: red }\n'
const css = () => readFileSync(join(machine.root, 'styles.css'), 'utf8')
let lastTurn: Awaited<ReturnType<TestMachine['turn']>>

beforeEach(async () => {
  machine = await makeMachine((root) => writeFileSync(join(root, 'styles.css'), BEFORE))
  lastTurn = await machine.turn(() => {
    writeFileSync(join(machine.root, 'styles.css'), AFTER)
    writeFileSync(join(machine.root, 'theme.css'), 'new\n')
  })
  acknowledged = []
  notes = []
  commands = makeCommands()
  changePolicy(machine.deps.home, 'remote', 'owner')
})
afterEach(() => machine.close())

function makeCommands(): Commands {
  return new Commands({
    deps: machine.deps,
    restores: createRemoteRestores(machine.deps),
    note: (event, facts = {}) => notes.push({ event, facts }),
    wakePush: () => undefined,
  })
}

const say = (message: ServerMessage) =>
  commands.handle(message, () => acknowledged.push('id' in message ? message.id : ''))

function owner(): Authoriser {
  return {
    kind: 'user',
    name: 'Ada',
    isOwner: true,
    signedInAt: new Date(machine.deps.clock.nowMs() - 1000).toISOString(),
  }
}

function planRequest(change: Partial<RestoreRequest> = {}): PlanRequest {
  return {
    type: 'plan.request',
    id: machine.newId('c'),
    restore: machine.newId('r'),
    request: {
      workspace: machine.workspace.id,
      turn: lastTurn,
      scope: 'from-turn',
      exact: false,
      onConflict: 'keep',
      mode: 'run',
      allowHeadChange: false,
      ...change,
    },
    requestedBy: owner(),
    requestedAt: new Date(machine.deps.clock.nowMs()).toISOString(),
  }
}

function commitOf(restore: RestoreId, token: string, change: Partial<RestoreCommit> = {}): RestoreCommit {
  return { type: 'restore.commit', id: machine.newId('c'), restore, token, authorisedBy: owner(), ...change }
}

/** The signed plan that waits to be sent. */
function planOf(restore: RestoreId): PlanBody {
  const envelope = new RemotePlans(machine.deps.log).findEnvelope(restore)
  if (envelope === null) throw new Error('no plan waits to be sent')
  const header = parseEnvelopeHeader(envelope)
  return planBodySchema.parse(JSON.parse(Buffer.from(envelope.subarray(header?.bodyOffset)).toString()))
}

const tokenOf = (restore: RestoreId) => planOf(restore).preview?.token ?? ''
const reportOf = (restore: RestoreId) =>
  machine.deps.log.listReportsToPush().find((item) => item.restore === restore)?.report

async function askForPlan(change: Partial<RestoreRequest> = {}) {
  const request = planRequest(change)
  await say(request)
  return { restore: request.restore, plan: planOf(request.restore), token: tokenOf(request.restore) }
}

it('plans, writes only on the word, and reports', async () => {
  const { restore, plan, token } = await askForPlan()
  expect(plan).toMatchObject({
    mayRunAtOnce: true,
    refusal: null,
    preview: { restore: ['styles.css'], delete: ['theme.css'] },
  })
  expect(css()).toBe(AFTER)
  await say(commitOf(restore, token))
  expect(css()).toBe(BEFORE)
  expect(existsSync(join(machine.root, 'theme.css'))).toBe(false)
  expect(reportOf(restore)).toMatchObject({
    restore,
    status: 'done',
    restored: ['styles.css'],
    deleted: ['theme.css'],
    verified: true,
    requestedBy: { kind: 'user', name: 'Ada' },
  })
  expect(acknowledged.length).toBe(2)
})

it('takes a restore back by the turn that it is', async () => {
  const first = await askForPlan()
  await say(commitOf(first.restore, first.token))
  const turn = reportOf(first.restore)?.turn
  if (turn === null || turn === undefined) throw new Error('the restore made no turn')
  const second = await askForPlan({ turn })
  await say(commitOf(second.restore, second.token))
  expect(css()).toBe(AFTER)
  expect(readFileSync(join(machine.root, 'theme.css'), 'utf8')).toBe('new\n')
})

it('keeps a later edit by hand and says so in plan and report', async () => {
  writeFileSync(join(machine.root, 'styles.css'), 'mine\n')
  const { restore, plan, token } = await askForPlan()
  expect(plan.mayRunAtOnce).toBe(false)
  expect(plan.preview?.conflicts).toMatchObject([{ path: 'styles.css', reason: 'changed-after-turn' }])
  await say(commitOf(restore, token))
  expect(css()).toBe('mine\n')
  expect(reportOf(restore)).toMatchObject({
    status: 'done',
    deleted: ['theme.css'],
    kept: [{ path: 'styles.css' }],
  })
})

describe('policy', () => {
  it('off: makes no plan and says why', async () => {
    changePolicy(machine.deps.home, 'remote', 'off')
    const { restore, plan, token } = await askForPlan()
    expect(plan).toMatchObject({ preview: null, refusal: { code: 'POLICY_REFUSED' }, mayRunAtOnce: false })
    await say(commitOf(restore, token))
    expect(css()).toBe(AFTER)
  })

  it('ask: plans, but takes the word only at the machine', async () => {
    changePolicy(machine.deps.home, 'remote', 'ask')
    const { restore, plan, token } = await askForPlan()
    expect(plan.preview?.restore).toEqual(['styles.css'])
    expect(plan.mayRunAtOnce).toBe(false)
    await say(commitOf(restore, token))
    expect(css()).toBe(AFTER)
    expect(reportOf(restore)).toMatchObject({
      status: 'refused',
      error: {
        code: 'POLICY_REFUSED',
        message: expect.stringContaining(`turnback restore ${lastTurn} --token ${token}`),
      },
    })
  })

  it('is asked again when the word comes', async () => {
    const { restore, token } = await askForPlan()
    changePolicy(machine.deps.home, 'remote', 'off')
    await say(commitOf(restore, token))
    expect(css()).toBe(AFTER)
    expect(reportOf(restore)?.error?.code).toBe('POLICY_REFUSED')
  })

  it('is closed when its file cannot be understood', async () => {
    writeFileSync(policyFile(machine.deps.home), '{"remote":"everything"}')
    expect((await askForPlan()).plan.refusal?.code).toBe('POLICY_REFUSED')
  })

  it('is asked for by default', async () => {
    rmSync(policyFile(machine.deps.home))
    const { restore, token } = await askForPlan()
    await say(commitOf(restore, token))
    expect(reportOf(restore)?.error?.code).toBe('POLICY_REFUSED')
    expect(css()).toBe(AFTER)
  })
})

describe('a word', () => {
  it('counts once', async () => {
    const { restore, token } = await askForPlan()
    const word = commitOf(restore, token)
    await say(word)
    expect(css()).toBe(BEFORE)
    writeFileSync(join(machine.root, 'styles.css'), 'later\n')
    await say(word)
    await say(commitOf(restore, token))
    commands = makeCommands()
    await say(commitOf(restore, token))
    expect(css()).toBe('later\n')
    expect(notes.filter(({ event }) => event === 'commit-not-followed').length).toBe(3)
    expect(reportOf(restore)?.status).toBe('done')
  })

  it('with another token is refused, and the plan is gone with it', async () => {
    const { restore, token } = await askForPlan()
    await say(commitOf(restore, `${token}x`))
    expect(reportOf(restore)).toMatchObject({ status: 'refused', error: { code: 'TOKEN_STALE' } })
    await say(commitOf(restore, token))
    expect(css()).toBe(AFTER)
  })

  it('for another restore’s plan is refused', async () => {
    const [one, two] = [await askForPlan(), await askForPlan({ scope: 'turn', paths: ['theme.css'] })]
    await say(commitOf(one.restore, two.token))
    expect(css()).toBe(AFTER)
    expect(existsSync(join(machine.root, 'theme.css'))).toBe(true)
  })

  it('comes too late after ten minutes', async () => {
    const { restore, token } = await askForPlan()
    machine.letTimePass(limits.planTtlSeconds * 1000)
    await say(commitOf(restore, token))
    expect(css()).toBe(AFTER)
    expect(reportOf(restore)?.error?.code).toBe('PLAN_UNKNOWN')
  })

  it('of somebody else, of a program, or of yesterday’s sign-in is not followed', async () => {
    const words: Partial<Authoriser>[] = [
      { isOwner: false },
      { kind: 'token', signedInAt: null },
      { signedInAt: new Date(machine.deps.clock.nowMs() - 13 * 3_600_000).toISOString() },
    ]
    for (const word of words) {
      const { restore, token } = await askForPlan()
      await say(commitOf(restore, token, { authorisedBy: { ...owner(), ...word } }))
      expect(reportOf(restore)?.error?.code).toBe('POLICY_REFUSED')
    }
    expect(css()).toBe(AFTER)
  })

  it('is not followed after a change of the tree since the plan', async () => {
    const { restore, token } = await askForPlan()
    writeFileSync(join(machine.root, 'styles.css'), 'mine\n')
    await say(commitOf(restore, token))
    expect(css()).toBe('mine\n')
    expect(existsSync(join(machine.root, 'theme.css'))).toBe(true)
    expect(reportOf(restore)).toMatchObject({ status: 'refused', error: { code: 'TOKEN_STALE' } })
  })

  it('is not followed after a cancel', async () => {
    const { restore, token } = await askForPlan()
    await say({ type: 'restore.cancel', id: machine.newId('c'), restore })
    await say(commitOf(restore, token))
    expect(css()).toBe(AFTER)
  })

  it('is followed six times in an hour, no more', async () => {
    for (let i = 0; i < limits.remoteRestoresPerHour; i++) {
      const { restore, token } = await askForPlan()
      await say(commitOf(restore, token))
      expect(reportOf(restore)?.error).toBeUndefined()
      lastTurn = await machine.turn(() => writeFileSync(join(machine.root, 'styles.css'), `round ${i}\n`))
    }
    const late = await askForPlan()
    await say(commitOf(late.restore, late.token))
    expect(reportOf(late.restore)?.error?.code).toBe('RATE_LIMITED')
    expect(css()).toBe('round 5\n')
    machine.letTimePass(3_600_001)
    const again = await askForPlan()
    await say(commitOf(again.restore, again.token))
    expect(reportOf(again.restore)?.status).toBe('done')
  })

  it('for a plan that never was is not followed, and nothing is written for it', async () => {
    await say(commitOf(machine.newId('r'), 'anything'))
    expect(machine.deps.log.listReportsToPush()).toEqual([])
    expect(css()).toBe(AFTER)
  })
})

describe('a yes given at the machine', () => {
  beforeEach(() => {
    changePolicy(machine.deps.home, 'remote', 'ask')
  })
  const refusalOf = async (restore: RestoreId): Promise<string> => {
    try {
      return (await commands.approve(restore)).status
    } catch (error) {
      return error instanceof DomainError ? error.code : String(error)
    }
  }

  it('carries the plan out under the id that was asked for, once', async () => {
    const { restore } = await askForPlan()
    expect(await commands.approve(restore)).toMatchObject({
      restore,
      status: 'done',
      restored: ['styles.css'],
      requestedBy: { kind: 'user', name: 'Ada' },
    })
    expect(css()).toBe(BEFORE)
    expect(reportOf(restore)).toMatchObject({ restore, status: 'done', verified: true })
    expect(await refusalOf(restore)).toBe('PLAN_UNKNOWN')
  })

  it('is for the plan that was sent: a tree that has changed since refuses it', async () => {
    const { restore } = await askForPlan()
    writeFileSync(join(machine.root, 'styles.css'), 'mine\n')
    expect(await commands.approve(restore)).toMatchObject({
      status: 'refused',
      error: { code: 'TOKEN_STALE' },
    })
    expect(css()).toBe('mine\n')
  })

  it('comes too late after ten minutes or a cancel, and for nothing that was never asked', async () => {
    const old = await askForPlan()
    machine.letTimePass(limits.planTtlSeconds * 1000)
    expect(await refusalOf(old.restore)).toBe('PLAN_UNKNOWN')
    const gone = await askForPlan()
    await say({ type: 'restore.cancel', id: machine.newId('c'), restore: gone.restore })
    expect(await refusalOf(gone.restore)).toBe('PLAN_UNKNOWN')
    expect(await refusalOf(machine.newId('r'))).toBe('RESTORE_NOT_FOUND')
    expect(css()).toBe(AFTER)
  })

  it('is held against policy and rate, and the plan stays when they refuse it', async () => {
    const { restore } = await askForPlan()
    changePolicy(machine.deps.home, 'remote', 'off')
    expect(await refusalOf(restore)).toBe('POLICY_REFUSED')
    changePolicy(machine.deps.home, 'remote', 'ask')
    const plans = new RemotePlans(machine.deps.log)
    for (let i = 0; i < limits.remoteRestoresPerHour; i++) {
      const used = await askForPlan()
      plans.use(used.restore, machine.deps.clock.nowMs())
    }
    expect(await refusalOf(restore)).toBe('RATE_LIMITED')
    expect(css()).toBe(AFTER)
    expect(plans.find(restore)?.state).toBe('planned')
  })
})

describe('a lying service', () => {
  it('cannot name a turn or a workspace of another machine', async () => {
    const strange = await askForPlan({ turn: machine.newId('t') })
    expect(strange.plan).toMatchObject({ preview: null, refusal: { code: 'TURN_NOT_FOUND' } })
    const elsewhere = await askForPlan({ workspace: machine.newId('w') })
    expect(elsewhere.plan).toMatchObject({ preview: null, refusal: { code: 'WORKSPACE_NOT_FOUND' } })
    for (const { restore } of [strange, elsewhere]) await say(commitOf(restore, ''))
    expect(css()).toBe(AFTER)
  })

  it('cannot name the turn of another folder of this machine', async () => {
    const other = join(machine.folder, 'other')
    mkdirSync(other)
    const place = { root: other, device: '1', inode: '2', name: 'other' }
    const { id } = registerWorkspace(machine.deps, place, null)
    const { plan } = await askForPlan({ workspace: id })
    expect(plan).toMatchObject({ preview: null, refusal: { code: 'TURN_NOT_FOUND' } })
  })

  it('cannot have one restore planned twice for two things', async () => {
    const { restore, token } = await askForPlan({ scope: 'turn', paths: ['theme.css'] })
    await say({ ...planRequest(), restore })
    expect(tokenOf(restore)).toBe(token)
    await say(commitOf(restore, token))
    expect(css()).toBe(AFTER)
    expect(existsSync(join(machine.root, 'theme.css'))).toBe(false)
  })

  it('cannot have more files written than allowed', async () => {
    lastTurn = await machine.turn(() => {
      for (let i = 0; i <= limits.remoteRestoreFiles; i++) writeFileSync(join(machine.root, `f${i}`), '')
    })
    const { plan } = await askForPlan()
    expect(plan).toMatchObject({ preview: null, refusal: { code: 'POLICY_REFUSED' } })
  })
})

/** The same hand with its methods as own properties, so that one of them can be replaced. */
function bound(writer: TreeWriter): TreeWriter {
  return {
    look: (path) => writer.look(path),
    holds: (path, state) => writer.holds(path, state),
    narrowFolders: (paths) => writer.narrowFolders(paths),
    apply: (step, index) => writer.apply(step, index),
    begin: (step, index) => writer.begin(step, index),
    together: (work) => writer.together(work),
    sync: (folders, files) => writer.sync(folders, files),
    rest: () => writer.rest(),
    close: () => writer.close(),
    settle: (steps, widened) => writer.settle(steps, widened),
  }
}

describe('after a stop', () => {
  it('plans what was acknowledged and not planned yet, to wait for another look', async () => {
    const request = planRequest()
    new RemotePlans(machine.deps.log).put({
      restore: request.restore,
      command: request.id,
      request: request.request,
      requestedBy: { kind: 'user', name: 'Ada' },
      receivedAtMs: machine.deps.clock.nowMs(),
      state: 'asked',
      plannedAtMs: null,
      usedAtMs: null,
      token: null,
      files: 0,
      isDelivered: false,
      isReported: false,
    })
    await makeCommands().resume()
    expect(planOf(request.restore)).toMatchObject({
      mayRunAtOnce: false,
      preview: { restore: ['styles.css'] },
    })
  })

  it('finishes a restore that was cut off between two files, under the id that was asked for', async () => {
    const { deps } = machine
    let steps = 0
    const broken: typeof deps = {
      ...deps,
      writer(workspace, id) {
        const writer = deps.writer(workspace, id)
        const begin: typeof writer.begin = (step, index) => {
          if (++steps === 2) throw new Error('the machine stops here')
          return writer.begin(step, index)
        }
        return { ...bound(writer), begin }
      },
    }
    const note = (event: string, facts: Readonly<Record<string, unknown>> = {}) =>
      notes.push({ event, facts })
    const restores = createRemoteRestores(broken)
    commands = new Commands({ deps, restores, note, wakePush: () => undefined })
    const { restore, token } = await askForPlan()
    await say(commitOf(restore, token))
    expect(steps).toBe(2)
    expect(css()).toBe(BEFORE)
    expect(existsSync(join(machine.root, 'theme.css'))).toBe(false)
    expect(reportOf(restore)).toMatchObject({ restore, status: 'done', recovered: true, verified: true })
  })

  it('says that nothing was done when it was stopped between the word and the first write', async () => {
    const { restore } = await askForPlan()
    expect(new RemotePlans(machine.deps.log).use(restore, machine.deps.clock.nowMs())).toBe(true)
    await makeCommands().resume()
    expect(reportOf(restore)).toMatchObject({ status: 'failed', turn: null })
    expect(css()).toBe(AFTER)
  })
})
