import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { RestoreReport, TurnId } from '@turnback/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type RestoreAsk, WHOLE_TURNS } from '#restore/ask.ts'
import { executeRestore } from '#restore/execute.ts'
import { processes } from '#store/process.ts'
import { CaptureRig } from './support/capture-rig.ts'
import { TURNBACK } from './support/command-line.ts'

let rig: CaptureRig
const agents: ChildProcess[] = []
beforeEach(async () => {
  rig = new CaptureRig('quiet')
  for (const name of ['a', 'b']) rig.write(name, `${name}0`)
  await rig.init()
})
afterEach(async () => {
  for (const agent of agents.splice(0)) await end(agent)
  rig.dispose()
})

function startAgent(): ChildProcess & { readonly pid: number } {
  const agent = spawn('sleep', ['1000'], { stdio: 'ignore' })
  agents.push(agent)
  if (agent.pid === undefined) throw new Error('no process was started')
  return Object.assign(agent, { pid: agent.pid })
}

async function end(agent: ChildProcess): Promise<void> {
  if (agent.exitCode !== null || agent.signalCode !== null) return
  const gone = once(agent, 'exit')
  agent.kill('SIGKILL')
  await gone
}

const row = (turn: TurnId) => rig.deps.log.findTurn(turn)
const busy = (caller: number | null = null) => rig.deps.capture.findBusy(rig.workspace, caller)
const bash = { key: 'k', tool: 'Bash', command: 'make' }

/** @throws BUSY at once when it is: the clock of these tests stands ten seconds ahead at the second look */
function undo(manner: Partial<RestoreAsk> = {}): Promise<RestoreReport> {
  return executeRestore(rig.deps, {
    workspace: rig.workspace,
    target: { kind: 'undo', session: null },
    options: WHOLE_TURNS,
    allowHeadChange: false,
    closeOpen: false,
    dryRun: false,
    token: null,
    restore: null,
    requestedBy: { kind: 'local', name: 'test' },
    ...manner,
  })
}

test('a turn is busy with a tool in flight or news of the last ten seconds; plain begin is no news', async () => {
  const agent = startAgent()
  const turn = await rig.begin({ key: 'k', agentPid: agent.pid })
  expect(busy()).toBeNull()
  await rig.event({ type: 'tool.before', ...bash })
  rig.aheadMs = 60_000
  expect(busy(), 'as long as the tool runs').toBe(turn)
  rig.aheadMs = 0
  await rig.event({ type: 'tool.after', ...bash })
  expect(busy()).toBe(turn)
  rig.aheadMs = 10_500
  expect(busy()).toBeNull()
  await rig.event({ type: 'tool.before', ...bash })
  await end(agent)
  expect(busy(), 'nobody is at work who is gone').toBeNull()
})

test('an interrupted agent says nothing: after ten quiet seconds undo closes its turn and takes it back', async () => {
  const agent = startAgent()
  const turn = await rig.begin({ key: 'k', agentPid: agent.pid })
  await rig.event({ type: 'tool.before', ...bash })
  rig.write('a', 'by the command')
  // The transcript shows that the tool was interrupted; its adapter tells so.
  await rig.event({ type: 'tool.after', ...bash })
  rig.aheadMs = 10_500
  const report = await undo()
  expect(report).toMatchObject({ status: 'done', restored: ['a'], verified: true })
  expect(row(turn)).toMatchObject({ endReason: 'interrupted' })
  expect(await rig.manifest(turn)).toMatchObject({ lateEnd: true })
  expect(readFileSync(rig.at('a'), 'utf8')).toBe('a0')
})

test('an agent that was killed while its command ran is not waited for, and what the command wrote is undone', async () => {
  const agent = startAgent()
  const turn = await rig.begin({ key: 'k', agentPid: agent.pid })
  await rig.event({ type: 'tool.before', ...bash })
  rig.write('a', 'by the command')
  await end(agent)
  expect(await undo()).toMatchObject({ status: 'done', restored: ['a'] })
  expect(row(turn)).toMatchObject({ endReason: 'lost' })
})

test('a tool in flight is waited for in vain, and cut off by force', async () => {
  const turn = await rig.begin({ key: 'k', agentPid: startAgent().pid })
  await rig.event({ type: 'tool.before', ...bash })
  rig.write('a', 'by the command')
  const clock = rig.deps.clock.nowMs
  rig.deps.clock.nowMs = () => {
    rig.aheadMs += 11_000
    return clock()
  }
  await expect(undo()).rejects.toMatchObject({ code: 'BUSY', details: { turn } })
  rig.deps.clock.nowMs = clock
  rig.aheadMs = 0
  expect(await undo({ closeOpen: true })).toMatchObject({ status: 'done', restored: ['a'] })
  expect(row(turn)).toMatchObject({ endReason: 'interrupted' })
})

test('a turn does not stand in the way of what its own agent runs; another session’s does', async () => {
  // This process stands above itself: what it asks for comes from within the first turn.
  const inside = await rig.begin({ session: 'A', key: 'k', agentPid: process.pid })
  await rig.event({ session: 'A', type: 'tool.before', ...bash })
  expect(busy(process.pid)).toBeNull()
  expect(busy(startAgent().pid), 'also from a process further below').toBeNull()
  expect(busy(process.ppid), 'but not from above').toBe(inside)
  expect(busy()).toBe(inside)
  const other = await rig.begin({ session: 'B', key: 'k', agentPid: startAgent().pid })
  await rig.event({ session: 'B', type: 'tool.before', ...bash })
  expect(busy(process.pid)).toBe(other)
})

test('an agent that runs undo itself: its turn is closed, taken back, and goes on as another one', async () => {
  const script = `
    "$T" begin --session s1 --turn k --agent-pid $$ &&
    "$T" event --session s1 --turn k --type tool.before --tool Bash --command "turnback undo" &&
    printf changed >a &&
    sh -c '"$T" undo --json >"$OUT"; exit $?' &&
    "$T" event --session s1 --turn k --type tool.after --tool Bash --command "turnback undo" &&
    printf again >b &&
    "$T" end --session s1 --turn k`
  const out = `${rig.top}/undo.json`
  const agent = spawn('sh', ['-c', script], {
    cwd: rig.root,
    env: { ...rig.env, T: TURNBACK, OUT: out },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let talk = ''
  agent.stderr.setEncoding('utf8').on('data', (text: string) => {
    talk += text
  })
  const [code] = await once(agent, 'close')
  expect([code, talk]).toEqual([0, expect.anything()])
  expect(JSON.parse(readFileSync(out, 'utf8'))).toMatchObject({ status: 'done', restored: ['a'] })
  const turns = rig.deps.log.listTurns(rig.workspace.id)
  expect(turns.map(({ kind, endReason, key }) => `${kind} ${endReason} ${key}`)).toEqual([
    'agent interrupted k',
    'restore completed null',
    'agent completed k',
  ])
  const last = await rig.manifest(turns[2]?.turn as TurnId)
  expect(last).toMatchObject({ lateStart: true, coverage: { notRestorable: [] } })
  expect(last.entries.map(({ path }) => path)).toEqual(['b'])
}, 60_000)

test('which process the agent is: as Claude Code tells its hooks, if it stands above; or the nearest that is no shell', async () => {
  const agentOf = (args: readonly string[], env: Record<string, string>) => {
    Object.assign(rig.env, env)
    const { json, stderr } = rig.run(['begin', '--session', 's1', ...args, '--json'])
    if (typeof json.turn !== 'string') throw new Error(stderr)
    return row(json.turn as TurnId)?.agentProcess?.pid ?? null
  }
  expect(agentOf([], { CLAUDE_PID: '' }), 'who starts a plain begin is no agent').toBeNull()
  expect(agentOf([], { CLAUDE_PID: String(process.pid) })).toBe(process.pid)
  expect(agentOf([], { CLAUDE_PID: String(startAgent().pid) }), 'lives, but not above').toBeNull()
  expect(agentOf(['--agent-pid', 'above'], { CLAUDE_PID: '' })).toBe(process.pid)
  expect(rig.run(['begin', '--session', 's1', '--agent-pid', 'me', '--json']).code).toBe(2)
  expect(processes.listChain(process.pid)[0]?.pid).toBe(process.pid)
}, 60_000)
