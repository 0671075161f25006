import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { RelPath, TurnId } from '@turnback/core'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { watchTurns } from '#capture/watch-turns.ts'
import { processes, thisSpace } from '#store/process.ts'
import { CaptureRig, outline } from './support/capture-rig.ts'

const MINUTE = 60_000

let rig: CaptureRig
const agents: ChildProcess[] = []
beforeEach(async () => {
  rig = new CaptureRig('life')
  for (const name of ['a', 'b', 'c', 'src/d', 'src/e']) rig.write(name, `${name}0`)
  await rig.init()
})
afterEach(async () => {
  for (const agent of agents.splice(0)) await end(agent)
  rig.dispose()
})

/** A process that does nothing until it is killed: all that is asked of an agent here. */
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

const turns = () => rig.deps.log.listTurns(rig.workspace.id)
const row = (turn: TurnId) => rig.deps.log.findTurn(turn)
const lookAfter = () => rig.deps.capture.lookAfter(rig.workspace)
const sources = async (turn: TurnId) =>
  (await rig.manifest(turn)).entries.map(({ path, source }) => `${path} ${source}`)
const outside = () =>
  turns()
    .filter(({ kind }) => kind === 'outside')
    .flatMap(({ turn }) => rig.deps.log.getManifest(turn).entries.map(({ path }) => path))

/** So that what is written now is later than what was written before, by the clock of files too. */
async function pass(): Promise<void> {
  const now = Date.now()
  await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(now + 30), { interval: 5 })
}

test('news whose caller gives up while its turn is opened is not noted, so that it counts once when it is repeated', async () => {
  rig.write('a', 'x')
  await rig.init()
  for (const givesUpAt of [1, 2, 3]) {
    const session = `gives-up-${givesUpAt}`
    const news = { type: 'tool.before', session, key: 'k', tool: 'Edit', paths: ['a' as RelPath] } as const
    let asked = 0
    const confirm = () => {
      if (++asked === givesUpAt) throw new Error('gone')
    }
    await expect(rig.event({ ...news, confirm }), session).rejects.toThrow('gone')
    const turn = await rig.event(news)
    if (turn === null) throw new Error('it opens one')
    expect(rig.deps.log.listToolEvents(turn), session).toHaveLength(1)
  }
})

describe('an agent’s process', () => {
  test('as long as it lives its turn is left alone; when it was killed the turn is lost, with a look', async () => {
    const agent = startAgent()
    const turn = await rig.begin({ key: 'k', agentPid: agent.pid })
    await rig.event({ type: 'tool.before', key: 'k', tool: 'Bash', command: 'make' })
    rig.write('a', 'made')
    await rig.event({ type: 'tool.after', key: 'k', tool: 'Bash', command: 'make' })
    await pass()
    rig.write('b', 'by hand')
    expect(await lookAfter()).toEqual([])

    await end(agent)
    expect(rig.deps.capture.listLeftBehind(rig.workspace)).toEqual([turn])
    expect(await lookAfter()).toEqual([turn])
    expect(row(turn)).toMatchObject({ endReason: 'lost', isOpen: false })
    expect(await rig.manifest(turn)).toMatchObject({ lateEnd: true })
    expect(await sources(turn)).toEqual(['a shell'])
    expect(outside()).toEqual(['b'])
  })

  test('a process that ended and that its parent does not know of yet has ended', async () => {
    const parent = spawn('sh', ['-c', 'sleep 1000 & echo $!; exec sleep 1000'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    agents.push(parent)
    const [line] = (await once(parent.stdout, 'data')) as [Buffer]
    const pid = Number(line.toString())
    const turn = await rig.begin({ agentPid: pid })
    const name = row(turn)?.agentProcess
    if (name == null) throw new Error('the agent is not known')
    expect(processes.isAlive(name)).toBe(true)
    process.kill(pid, 'SIGKILL')
    await vi.waitFor(() => expect(processes.isAlive(name)).toBe(false))
    expect(processes.listChain(pid), 'it is a zombie').not.toEqual([])
    expect(await lookAfter()).toEqual([turn])
  })

  test('a script that stands between the agent and us is known by its shell, whatever it is called', async () => {
    const script = join(rig.top, 'claude')
    writeFileSync(script, '#!/bin/sh\necho ready\nread -r line\n', { mode: 0o755 })
    const between = spawn(script, [], { stdio: ['pipe', 'pipe', 'ignore'] })
    agents.push(between)
    await once(between.stdout, 'data')
    const [first] = processes.listChain(between.pid ?? 0)
    expect(first?.command).toMatch(/^(?:dash|bash|busybox|sh)$/)
  })

  test('a number that was given anew is another process', async () => {
    const agent = startAgent()
    const turn = await rig.begin({ agentPid: agent.pid })
    change('agent_started', '1')
    expect(await lookAfter()).toEqual([turn])
  })

  test.skipIf(thisSpace() === '')(
    'one in a container, whose number says nothing here, is not gone',
    async () => {
      const agent = startAgent()
      const turn = await rig.begin({ agentPid: agent.pid })
      expect(row(turn)).toMatchObject({ agentProcess: { space: thisSpace() } })
      await rig.event({ type: 'tool.before', tool: 'Bash', command: 'make' })
      await end(agent)
      change('agent_space', '1')
      expect(await lookAfter()).toEqual([])
      expect(rig.deps.capture.findBusy(rig.workspace, null)).toBe(turn)
      change('agent_space', thisSpace())
      expect(rig.deps.capture.findBusy(rig.workspace, null)).toBeNull()
      expect(await lookAfter()).toEqual([turn])
    },
  )

  test('one that is not there is not taken for the agent: the turn would be lost at once', async () => {
    const agent = startAgent()
    await end(agent)
    const turn = await rig.begin({ agentPid: agent.pid })
    expect(row(turn)).toMatchObject({ agentProcess: null })
    expect(await lookAfter()).toEqual([])
  })

  test('any later command of another session closes what a dead agent left, by its own look', async () => {
    const agent = startAgent()
    const turn = await rig.begin({ agentPid: agent.pid })
    rig.write('a', 'by the agent')
    await end(agent)
    const next = await rig.begin({ session: 's2' })
    expect(row(turn)).toMatchObject({ endReason: 'lost' })
    expect(row(next)?.beginScan).toBe(row(turn)?.endScan)
    // It never had an event: it keeps everything.
    expect(await rig.manifest(turn)).toMatchObject({ lateEnd: false })
    expect(await sources(turn)).toEqual(['a unknown'])
  })

  test('an end that comes when the process is gone is its end all the same', async () => {
    const agent = startAgent()
    const turn = await rig.begin({ agentPid: agent.pid })
    await end(agent)
    await rig.end()
    expect(row(turn)).toMatchObject({ endReason: 'completed' })
  })

  test('an agent that goes on under the same key with another process is known by that', async () => {
    const [first, second] = [startAgent(), startAgent()]
    const turn = await rig.begin({ key: 'k', agentPid: first.pid })
    await end(first)
    await rig.event({ type: 'tool.before', key: 'k', tool: 'Read', agentPid: second.pid })
    expect(await lookAfter()).toEqual([])
    expect(row(turn)?.agentProcess?.pid).toBe(second.pid)
  })

  test('a turn that news opens is of the agent that the session had, as long as that lives', async () => {
    const agent = startAgent()
    await rig.begin({ key: 'k', agentPid: agent.pid })
    await rig.end('s1', 'k')
    const turn = await rig.event({ type: 'tool.before', key: 'k2', tool: 'Read' })
    expect(row(turn as TurnId)?.agentProcess?.pid).toBe(agent.pid)
    await end(agent)
    expect(await lookAfter()).toEqual([turn])
    const next = await rig.event({ type: 'tool.before', key: 'k3', tool: 'Read' })
    expect(row(next as TurnId)?.agentProcess, 'it is gone: who goes on is another one').toBeNull()
    await rig.end('s1', 'k3')
    expect(row(await rig.begin({ key: 'k4' }))?.agentProcess, 'a begin is told or knows nothing').toBeNull()
  })

  test('the watch closes it at the second look, and goes on until it is told to end', async () => {
    const agent = startAgent()
    const turn = await rig.begin({ key: 'k', agentPid: agent.pid })
    const notes: string[] = []
    const stop = new AbortController()
    const watching = watchTurns(rig.deps, (event) => notes.push(event), stop.signal, 10)
    await pass()
    expect(row(turn)?.isOpen).toBe(true)
    await end(agent)
    await vi.waitFor(() => expect(row(turn)).toMatchObject({ endReason: 'lost' }))
    stop.abort()
    await watching
    expect(notes).toEqual(['turn-lost'])
  })
})

describe('a restart of the machine, and silence', () => {
  test('open turns of before a restart are lost, plain ones too; those keep everything', async () => {
    const plain = await rig.begin()
    rig.write('a', 'before the restart')
    expect(await lookAfter(), 'without a restart it stays').toEqual([])
    change('boot', 'another-start-of-the-machine')
    expect(await lookAfter()).toEqual([plain])
    expect(await rig.manifest(plain)).toMatchObject({ endReason: 'lost', lateEnd: false })
    expect(await sources(plain)).toEqual(['a unknown'])
  })

  test('the end of a plain turn counts also after a restart', async () => {
    const plain = await rig.begin()
    change('boot', 'another-start-of-the-machine')
    await rig.end()
    expect(row(plain)).toMatchObject({ endReason: 'completed' })
  })

  test('silence of half an hour ends a turn of which nothing is known; never one without events', async () => {
    const plain = await rig.begin({ session: 'plain' })
    const silent = await rig.begin({ session: 'silent' })
    await rig.event({ type: 'tool.after', session: 'silent', tool: 'Edit', paths: ['a'] })
    rig.aheadMs = 29 * MINUTE
    expect(await lookAfter()).toEqual([])
    rig.aheadMs = 31 * MINUTE
    expect(await lookAfter()).toEqual([silent])
    rig.aheadMs = 10_000 * MINUTE
    expect(await lookAfter()).toEqual([])
    expect(row(plain)?.isOpen).toBe(true)
  })

  test('an agent that lives and has a tool in flight is never given up', async () => {
    const agent = startAgent()
    await rig.begin({ key: 'k', agentPid: agent.pid })
    await rig.event({ type: 'tool.before', key: 'k', tool: 'Bash', command: 'sleep 1d' })
    rig.aheadMs = 10_000 * MINUTE
    expect(await lookAfter()).toEqual([])
    await rig.event({ type: 'tool.after', key: 'k', tool: 'Bash', command: 'sleep 1d' })
    rig.aheadMs += 121 * MINUTE
    expect(await lookAfter()).toHaveLength(1)
  })
})

describe('what a person did before a turn was closed late', () => {
  const lastEvent = async () => {
    const turn = await rig.begin({ key: 'k' })
    await rig.event({ type: 'tool.before', key: 'k', tool: 'Bash', command: 'make' })
    rig.write('made/by-agent', 'agent')
    await rig.event({ type: 'tool.after', key: 'k', tool: 'Bash', command: 'make' })
    await pass()
    return turn
  }

  test('is not the agent’s: writing, deleting, making folders, moving them with all that is in them', async () => {
    const turn = await lastEvent()
    rig.write('a', 'by hand')
    rmSync(rig.at('b'))
    mkdirSync(rig.at('folder'))
    // The times of what lies in a moved folder stay what they were.
    renameSync(rig.at('src'), rig.at('lib'))
    await rig.begin({ key: 'k2' })
    expect(await sources(turn)).toEqual(['made shell', 'made/by-agent shell'])
    expect(outside()).toEqual(['a', 'b', 'folder', 'lib', 'lib/d', 'lib/e', 'src', 'src/d', 'src/e'])
  })

  test('also when something was put into the moved folder afterwards', async () => {
    const turn = await lastEvent()
    renameSync(rig.at('src'), rig.at('lib'))
    rig.write('lib/new', 'by hand')
    await rig.begin({ key: 'k2' })
    expect(await sources(turn)).toEqual(['made shell', 'made/by-agent shell'])
  })

  test('also a folder that came from elsewhere with files older than the turn', async () => {
    const elsewhere = mkdtempSync(join(rig.top, 'elsewhere-'))
    mkdirSync(join(elsewhere, 'old/deep'), { recursive: true })
    writeFileSync(join(elsewhere, 'old/deep/file'), 'old')
    const turn = await lastEvent()
    renameSync(join(elsewhere, 'old'), rig.at('old'))
    await rig.begin({ key: 'k2' })
    expect(await sources(turn)).toEqual(['made shell', 'made/by-agent shell'])
    expect(outside()).toEqual(['old', 'old/deep', 'old/deep/file'])
  })

  test('also when it has times of its own choice', async () => {
    const turn = await lastEvent()
    rig.write('a', 'by hand')
    utimesSync(rig.at('a'), 1, 1)
    await rig.begin({ key: 'k2' })
    expect(await sources(turn)).toEqual(['made shell', 'made/by-agent shell'])
  })

  test('the end of the session an hour later gives the agent nothing of that hour', async () => {
    const turn = await lastEvent()
    rig.write('a', 'by hand')
    await rig.event({ type: 'session.end', key: 'k' })
    expect(await sources(turn)).toEqual(['made shell', 'made/by-agent shell'])
    expect(outside()).toEqual(['a'])
  })

  test('a command that never reported its end may have written on; for a bounded time', async () => {
    const turn = await rig.begin({ key: 'k' })
    await rig.event({ type: 'tool.before', key: 'k', tool: 'Bash', command: 'make' })
    await pass()
    rig.write('a', 'by the command, after its event')
    await rig.begin({ key: 'k2' })
    expect(await sources(turn)).toEqual(['a shell'])

    const later = await rig.begin({ session: 's2', key: 'k' })
    rig.aheadMs = -11 * MINUTE
    await rig.event({ type: 'tool.before', session: 's2', key: 'k', tool: 'Bash', command: 'make' })
    rig.aheadMs = 0
    await rig.end('s1')
    rig.write('b', 'by hand, eleven minutes later')
    await rig.begin({ session: 's2', key: 'k2' })
    expect(await sources(later)).toEqual([])
    expect(outside()).toEqual(['b'])
  })
})

describe('writers in the background', () => {
  test('what is written after an end is nobody’s, or the next turn’s; a tool of the closed turn does not name it', async () => {
    const first = await rig.begin({ key: 'k' })
    await rig.event({ type: 'tool.after', key: 'k', tool: 'Write', paths: ['log'] })
    rig.write('log', 'one')
    await rig.end('s1', 'k')
    rig.write('log', 'two, by a server that still runs')
    const second = await rig.begin({ key: 'k2' })
    rig.write('log', 'three')
    await rig.end('s1', 'k2')
    expect(await sources(first)).toEqual(['log tool'])
    expect(outside()).toEqual(['log'])
    expect(await sources(second)).toEqual(['log unknown'])
  })
})

describe('sub-agents', () => {
  test('what they do belongs to their parent’s turn, and their end ends nothing', async () => {
    const child = { session: 'child', parentSession: 's1' }
    expect(await rig.event({ ...child, type: 'turn.start' }), 'a child opens no turn').toBeNull()
    const turn = await rig.begin({ key: 'k' })
    await rig.event({ ...child, type: 'turn.start' })
    expect(await rig.event({ ...child, type: 'tool.before', tool: 'Edit', paths: ['a'] })).toBe(turn)
    expect(row(turn)).toMatchObject({ toolsInFlight: 1 })
    rig.write('a', 'by the child')
    await rig.event({ ...child, type: 'tool.after', tool: 'Edit', paths: ['a'] })
    expect(await rig.event({ ...child, type: 'turn.end' })).toBe(turn)
    expect(await rig.event({ ...child, type: 'session.end' })).toBe(turn)
    expect(row(turn)).toMatchObject({ isOpen: true, toolsInFlight: 0 })
    await rig.end('s1', 'k')
    expect(await sources(turn)).toEqual(['a tool'])
    expect(turns()).toHaveLength(1)
    expect(row(turn)).toMatchObject({ session: 's1' })
  })
})

describe('late news', () => {
  test('of a closed turn opens nothing when it is older than the close', async () => {
    const turn = await rig.begin({ key: 'k' })
    const sentMs = Date.now()
    await pass()
    await rig.end('s1', 'k')
    expect(await rig.event({ type: 'tool.after', key: 'k', tool: 'Edit', atMs: sentMs })).toBeNull()
    expect(turns()).toHaveLength(1)
    const reopened = await rig.event({ type: 'tool.after', key: 'k', tool: 'Edit' })
    expect(reopened).not.toBe(turn)
    expect(turns()).toHaveLength(2)
  })

  test('an end carries its reason', async () => {
    const turn = await rig.begin({ key: 'k' })
    await rig.event({ type: 'turn.end', key: 'k', reason: 'interrupted' })
    expect(row(turn)).toMatchObject({ endReason: 'interrupted' })
    expect(await rig.manifest(turn)).toMatchObject({ lateEnd: false })
    expect(outline(await rig.manifest(turn))).toEqual([])
  })
})

/** Writes into the rows of open turns, as another start of the machine would have left them. */
function change(column: 'boot' | 'agent_started' | 'agent_space', value: string): void {
  const db = new DatabaseSync(join(rig.deps.home.store, 'turnback.db'))
  db.prepare(`UPDATE turns SET ${column} = ? WHERE is_open = 1`).run(value)
  db.close()
}
