import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { differences, type TreeSnapshot } from '@turnback/agent-client/testing'
import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { Desk, type Run } from './desk.ts'
import { fetchProgram } from './fetch-program.ts'
import { keepPayloads, recordHooks, tellTimes } from './hook-recorder.ts'
import type { Kit } from './kits/kit.ts'
import { refuse, say } from './models/model-server.ts'

const FETCH_TIMEOUT_MS = 900_000
const TEST_TIMEOUT_MS = 400_000
const WAIT_MS = 120_000
/** What an agent is told after a rewind names the file; the sentence is the adapters'. */
const TOLD = /(undone|rewound|rewind|restored)[^"]*src\/new\.txt/i

interface Turn {
  readonly turn: string
  readonly kind: string
  readonly session: string
  readonly agent: { readonly name: string } | null
  readonly prompt: string | null
  readonly endReason: string | null
  readonly endedAt: string | null
}

interface Manifest {
  readonly agent: { readonly name: string; readonly version: string | null }
  readonly session: string
  readonly prompt: string
  readonly lastMessage: string | null
  readonly endReason: string
  readonly lateStart: boolean
  readonly overlaps: readonly string[]
  readonly entries: readonly { readonly path: string; readonly source: string; readonly sealed: boolean }[]
}

/** What every agent has to show: {@link Kit} says how it is done with one of them. */
export function describeAgent(kit: Kit): void {
  const desks: Desk[] = []
  const makeDesk = (): Desk => {
    const desk = new Desk(kit)
    desks.push(desk)
    return desk
  }

  describe(kit.agent, { timeout: TEST_TIMEOUT_MS }, () => {
    beforeAll(async () => {
      await fetchProgram(kit.agent, console.log)
    }, FETCH_TIMEOUT_MS)

    afterEach(async () => {
      for (const desk of desks.splice(0)) await desk.dispose()
    }, TEST_TIMEOUT_MS)

    test('a turn is recorded and undone byte for byte, with the resident client', async () => {
      const desk = makeDesk()
      const hooks = recordHooks(desk.program, desk.install(), join(desk.top, 'hooks'))
      desk.turnback('init')
      desk.turnback('connect')
      await workAndUndo(desk)
      expect(hooks.calls().filter(({ code }) => code !== 0)).toEqual([])
      tellTimes(kit.agent, 'with the resident client', hooks.calls())
    })

    test('a turn is recorded and undone byte for byte, with the client down', async () => {
      const desk = makeDesk()
      const hooks = recordHooks(desk.program, desk.install(), join(desk.top, 'hooks'))
      await workAndUndo(desk)
      expect(hooks.calls().filter(({ code }) => code !== 0)).toEqual([])
      tellTimes(kit.agent, 'without the resident client', hooks.calls())
      keepPayloads(kit.agent, desk.top, hooks.calls())
    })

    test.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)(
      'what an agent did until %s in the middle of a tool is recorded and undone',
      async (signal) => {
        const desk = makeDesk()
        desk.install()
        desk.turnback('init')
        desk.turnback('connect')
        const before = desk.snapshot()
        const run = await desk.start('Go on for long', [
          ...kit.create(join(desk.tree, 'src/new.txt'), 'half of it\n'),
          ...kit.shell(holding(desk, 'rm src/old.txt')),
        ])
        await waitFor(() => existsSync(join(desk.signs, 'held')), run)
        run.kill(signal)
        await run.ended
        letGo(desk)
        const turn = await waitForEnd(desk)
        expect(turn.endReason).toBe(kit.ends[signal])
        const manifest = desk.turnback('show', turn.turn) as Manifest
        expect(sourcesOf(manifest)).toEqual({ 'src/new.txt': 'tool', 'src/old.txt': 'shell' })
        expectUndone(desk, before)
      },
    )

    test('a turn that its model breaks off is recorded, and the next one hears of a rewind', async () => {
      const desk = makeDesk()
      desk.install()
      desk.turnback('init')
      desk.turnback('connect')
      const before = desk.snapshot()
      const create = kit.create(join(desk.tree, 'src/new.txt'), 'new\n')
      const first = await desk.start('First try', [...create, refuse()])
      await first.ended
      expect({ left: first.model.left, surplus: first.model.surplus }).toEqual({ left: 0, surplus: 0 })
      const turn = await waitForEnd(desk)
      expect(turn.endReason).toBe(kit.ends.refusal)
      expectUndone(desk, before)

      const second = await desk.start('Second try', [...create, say('Written.')], { goesOn: true })
      await expectWorked(second)
      const asked = second.model.asked.map(({ body }) => JSON.stringify(body))
      expect(asked.some((body) => body.includes('Second try'))).toBe(true)
      expect(asked.some((body) => TOLD.test(body))).toBe(kit.listens)
      const turns = listTurns(desk)
      expect(turns.map(({ prompt, endReason }) => ({ prompt, endReason }))).toEqual([
        { prompt: expect.stringContaining('Second try'), endReason: 'completed' },
        { prompt: expect.stringContaining('First try'), endReason: kit.ends.refusal },
      ])
      expect(new Set(turns.map(({ session }) => session)).size).toBe(1)
      expectUndone(desk, before)
    })

    test('an agent is not disturbed by a store that is broken', async () => {
      const desk = makeDesk()
      desk.install()
      desk.turnback('init')
      desk.breakStore()
      const run = await desk.start('Write it', [
        ...kit.create(join(desk.tree, 'src/new.txt'), 'written all the same\n'),
        say('Written.'),
      ])
      const { code, said } = await run.ended
      expect({ code, left: run.model.left, surplus: run.model.surplus }, said).toEqual({
        code: 0,
        left: 0,
        surplus: 0,
      })
      expect(readFileSync(join(desk.tree, 'src/new.txt'), 'utf8')).toBe('written all the same\n')
      // Nobody is told that this was recorded.
      expect(() => desk.turnback('log')).toThrow(/STORE_CORRUPT/)
    })

    test('of two sessions at once each keeps its own work', async () => {
      const desk = makeDesk()
      desk.install()
      desk.turnback('init')
      desk.turnback('connect')
      const before = desk.snapshot()
      const first = await desk.start('First of two', [
        ...kit.create(join(desk.tree, 'first.txt'), 'of the first\n'),
        ...kit.shell(holding(desk, 'true')),
        say('First done.'),
      ])
      await waitFor(() => existsSync(join(desk.signs, 'held')), first)
      const second = await desk.start('Second of two', [
        ...kit.create(join(desk.tree, 'second.txt'), 'of the second\n'),
        say('Second done.'),
      ])
      await expectWorked(second)
      letGo(desk)
      await expectWorked(first)
      const turns = listTurns(desk)
      const [one, two] = ['First of two', 'Second of two'].map((prompt) =>
        turns.find((turn) => turn.prompt?.includes(prompt)),
      )
      if (one === undefined || two === undefined) throw new Error(`turns: ${JSON.stringify(turns)}`)
      const [firstOf, secondOf] = [one, two].map(({ turn }) => desk.turnback('show', turn) as Manifest)
      expect(sourcesOf(firstOf)).toEqual({ 'first.txt': 'tool' })
      expect(sourcesOf(secondOf)).toEqual({ 'second.txt': 'tool' })
      expect(firstOf?.session).not.toBe(secondOf?.session)
      expect(firstOf?.overlaps).toEqual([two.turn])
      desk.turnback('restore', one.turn)
      expect(differences(before, desk.snapshot())).toEqual(['second.txt: left over'])
      desk.turnback('restore', two.turn)
      expect(differences(before, desk.snapshot())).toEqual([])
    })
  })
}

/** The settings call the recorder, which nobody has agreed to where an agent asks for that. */
async function workAndUndo(desk: Desk): Promise<void> {
  const { kit, tree } = desk
  const before = desk.snapshot()
  const change = `const { DatabaseSync } = require('node:sqlite'); new DatabaseSync('app.db').exec('DELETE FROM note')`
  const run = await desk.start(
    'Do all of it',
    [
      ...kit.edit(join(tree, 'src/greeting.txt'), 'good night', 'good evening'),
      ...kit.create(join(tree, 'src/new.txt'), 'new\n'),
      ...kit.shell('rm src/old.txt'),
      ...kit.shell('echo TOKEN=after > .env'),
      ...kit.shell(`printf 'more' >> logo.bin; echo more >> notes.md; '${process.execPath}' -e "${change}"`),
      say('All is done.'),
    ],
    { more: kit.trustHooks },
  )
  await expectWorked(run)
  expect(differences(before, desk.snapshot())).toEqual([
    '.env: content',
    'app.db: content',
    'logo.bin: content',
    'notes.md: content',
    'src/greeting.txt: content',
    'src/new.txt: left over',
    'src/old.txt: gone',
  ])
  const turns = listTurns(desk)
  expect(turns.map(({ prompt, endReason }) => ({ prompt, endReason }))).toEqual([
    { prompt: expect.stringContaining('Do all of it'), endReason: 'completed' },
  ])
  const manifest = desk.turnback('show', turns[0]?.turn ?? '') as Manifest
  expect(manifest).toMatchObject({
    agent: { name: kit.agent },
    endReason: 'completed',
    lateStart: false,
    overlaps: [],
  })
  expect(manifest.prompt).toContain('Do all of it')
  expect(sourcesOf(manifest)).toEqual({
    '.env': 'shell',
    'app.db': 'shell',
    'logo.bin': 'shell',
    'notes.md': 'shell',
    'src/greeting.txt': 'tool',
    'src/new.txt': 'tool',
    'src/old.txt': 'shell',
  })
  expect(manifest.entries.find(({ path }) => path === '.env')?.sealed).toBe(true)
  expectUndone(desk, before)
}

/** A command that does something and then waits for the test. It ends with the test's folder, too. */
function holding(desk: Desk, command: string): string {
  const [held, hold] = [join(desk.signs, 'held'), join(desk.signs, 'hold')]
  return `${command}; : > '${hold}'; : > '${held}'; while [ -e '${hold}' ]; do sleep 0.1; done`
}

function letGo(desk: Desk): void {
  rmSync(join(desk.signs, 'hold'))
}

async function expectWorked(run: Run): Promise<void> {
  const { code, said } = await run.ended
  const { left, surplus } = run.model
  expect({ code, left, surplus }, said).toEqual({ code: 0, left: 0, surplus: 0 })
}

function expectUndone(desk: Desk, before: TreeSnapshot): void {
  expect(desk.turnback('undo')).toMatchObject({
    status: 'done',
    kept: [],
    failed: [],
    skipped: [],
    verified: true,
  })
  expect(differences(before, desk.snapshot())).toEqual([])
}

function listTurns(desk: Desk): Turn[] {
  const { turns } = desk.turnback('log', '--kind', 'agent') as { turns: Turn[] }
  return turns
}

async function waitForEnd(desk: Desk): Promise<Turn> {
  let turns: Turn[] = []
  await waitFor(() => {
    turns = listTurns(desk)
    return turns.length > 0 && turns.every(({ endedAt }) => endedAt !== null)
  })
  expect(turns).toHaveLength(1)
  return turns[0] as Turn
}

async function waitFor(isSo: () => boolean, run?: Run): Promise<void> {
  const deadline = performance.now() + WAIT_MS
  while (!isSo()) {
    const early = await Promise.race([wait(50, null), ...(run === undefined ? [] : [run.ended])])
    if (early !== null) throw new Error(`the agent ended with ${early.code}:\n${early.said}`)
    if (performance.now() > deadline) throw new Error('what was waited for did not come')
  }
}

function sourcesOf(manifest: Manifest | undefined): Record<string, string> {
  return Object.fromEntries((manifest?.entries ?? []).map(({ path, source }) => [path, source]))
}
