import { existsSync } from 'node:fs'
import { constants, getPriority } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { startHousekeeping } from '#resident/housekeeping.ts'
import { CaptureRig } from './support/capture-rig.ts'

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))
/** Prints its priority in place of a result, or waits to be ended. */
const script = (text: string) => [process.execPath, '-e', text]

let rig: CaptureRig
let notes: { readonly event: string; readonly facts: Readonly<Record<string, unknown>> }[]
beforeEach(() => {
  rig = new CaptureRig('housekeeping')
  notes = []
})
afterEach(() => rig.dispose())

const start = (command: readonly string[], everyMs = 3_600_000) =>
  startHousekeeping({
    env: rig.env,
    note: (event, facts = {}) => notes.push({ event, facts }),
    command,
    firstMs: 1,
    everyMs,
  })
const noted = (count: number) => vi.waitFor(() => expect(notes.length).toBeGreaterThanOrEqual(count), 60_000)

test('gc runs soon after the start, and says what it did', async () => {
  rig.write('a', 'a')
  await rig.init()
  rig.reopen()
  const housekeeping = start([process.execPath, MAIN])
  await noted(1)
  await housekeeping.close()
  expect(notes).toEqual([
    { event: 'gc', facts: expect.objectContaining({ dryRun: false, turns: 0, trouble: null }) },
  ])
})

test('again and again, at the lowest priority; one that fails is told, and the next one runs', async () => {
  const housekeeping = start(
    script('console.log(JSON.stringify({ priority: require("os").getPriority() }))'),
    1,
  )
  await noted(2)
  await housekeeping.close()
  expect(notes[1]).toMatchObject({ event: 'gc' })
  expect(Number(notes[1]?.facts.priority)).toBe(Math.max(getPriority(), constants.priority.PRIORITY_LOW))
  notes = []
  const failing = start(
    script('console.log(JSON.stringify({ error: { code: "STORE_LOCKED" } })); process.exitCode = 1'),
    1,
  )
  await noted(2)
  await failing.close()
  expect(notes[1]).toMatchObject({ event: 'gc-failed', facts: { code: 1, error: { code: 'STORE_LOCKED' } } })
})

test('it is ended with the client, and does not begin after that', async () => {
  const mark = join(rig.top, 'running')
  const housekeeping = start(
    script(`require('fs').writeFileSync(${JSON.stringify(mark)}, ''); setInterval(() => {}, 1000)`),
  )
  await vi.waitFor(() => expect(existsSync(mark)).toBe(true), 60_000)
  await housekeeping.close()
  await housekeeping.close()
  expect(notes).toMatchObject([{ event: 'gc-failed', facts: { signal: 'SIGTERM' } }])
  const late = join(rig.top, 'late')
  const never = startHousekeeping({
    env: rig.env,
    note: () => {},
    command: script(`require('fs').writeFileSync(${JSON.stringify(late)}, '')`),
    firstMs: 300,
  })
  await never.close()
  await new Promise((done) => setTimeout(done, 600))
  expect(existsSync(late)).toBe(false)
})
