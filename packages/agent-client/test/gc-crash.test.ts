import { spawnSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import type { TurnId } from '@turnback/core'
import { SeededRandom } from '@turnback/core/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CaptureRig } from './support/capture-rig.ts'
import { runHere } from './support/command-here.ts'
import type { Step } from './support/fs-steps.ts'
import type { StepPlan } from './support/plan-step.ts'

const STEPS = fileURLToPath(new URL('./support/plan-step.ts', import.meta.url))
const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))
/** Kill points in one run of the tests; all of them by `pnpm test:long`. */
const IS_LONG = process.env.TURNBACK_TEST_LONG === '1'
const POINTS = IS_LONG ? Number(process.env.TURNBACK_TEST_POINTS ?? Number.POSITIVE_INFINITY) : 8

/** A home in which gc has something of everything to do: turns to cut, blobs to remove, packs to rewrite and to make. */
let rig: CaptureRig
let whole: string
let checkpoint: TurnId
let pinned: TurnId
const left: TurnId[] = []

beforeAll(async () => {
  rig = new CaptureRig('gc-crash')
  const random = new SeededRandom(9)
  const words = Array.from({ length: 300 }, () => random.below(1e9).toString(36))
  const text = (n: number) => Array.from({ length: n }, () => random.pick(words)).join(' ')
  for (let i = 0; i < 180; i++) rig.write(`src/file${i}.ts`, text(1_000))
  rig.write('noise', Buffer.from(Array.from({ length: 300_000 }, () => random.below(256))))
  await rig.init()
  const first = rig.run(['checkpoint', '--json'])
  checkpoint = String(first.json.turn) as TurnId
  await rig.turn(() => rig.write('a', 'a1'))
  pinned = (await rig.turn(() => rig.write('a', 'a2'))).turn
  rig.deps.log.setPinned(pinned, true)
  await rig.turn(() =>
    rig.write('noise', Buffer.from(Array.from({ length: 300_000 }, () => random.below(256)))),
  )
  await rig.turn(() => rmSync(rig.at('noise')))
  for (let i = 0; i < 5; i++) left.push((await rig.turn(() => rig.write('b', `b${i}`))).turn)
  rig.reopen()
  writeFileSync(join(rig.top, 'home', 'config.json'), JSON.stringify({ retentionTurns: 3 }))
  const db = new DatabaseSync(join(rig.top, 'home', 'store', 'turnback.db'))
  db.exec('UPDATE blobs SET listed_ms = 0')
  db.close()
  whole = join(rig.top, 'whole')
  cpSync(join(rig.top, 'home'), whole, { recursive: true })
}, 120_000)
afterAll(() => rig.dispose())

function putBack(): void {
  rmSync(join(rig.top, 'home'), { recursive: true })
  cpSync(whole, join(rig.top, 'home'), { recursive: true })
}

function gc(plan: Partial<StepPlan>): NodeJS.Signals | null {
  const steps: StepPlan = { folders: [join(rig.top, 'home')], ...plan }
  const { signal, status, stderr } = spawnSync(
    process.execPath,
    ['--import', STEPS, MAIN, 'gc', '--compact', '--json'],
    { cwd: rig.root, env: { ...rig.env, TURNBACK_TEST_STEP: JSON.stringify(steps) }, encoding: 'utf8' },
  )
  if (signal === null) expect(status, stderr).toBe(0)
  return signal
}

const here = (...args: string[]) => runHere(rig.env, rig.root, args)

/** The store is sound, and every turn that is to stay is there. */
async function expectSound(why: string): Promise<void> {
  const { json } = await here('verify')
  expect(json, why).toMatchObject({ missing: [], corrupt: [], log: [], packs: [] })
  const { turns } = (await here('log', '--limit', '100')).json as { turns: { turn: string }[] }
  const there = turns.map(({ turn }) => turn)
  for (const turn of [checkpoint, pinned, ...left.slice(-3)]) expect(there, why).toContain(turn)
}

test('killed at any step of gc, the store is sound, and the next gc comes to the same end', async () => {
  const list = join(rig.top, 'steps.json')
  gc({ list })
  const steps = JSON.parse(readFileSync(list, 'utf8')) as Step[]
  const writing = steps.flatMap((step, at) => (step.isWrite ? [at] : []))
  expect(writing.length).toBeGreaterThan(60)
  await expectSound('a whole run')
  const filesOf = () => readdirSync(join(rig.top, 'home', 'store', 'packs')).length
  const packs = filesOf()
  const points = writing.flatMap((at) => [
    { at, when: 'before' as const },
    { at, when: 'after' as const },
  ])
  const stride = Math.max(1, points.length / POINTS)
  if (IS_LONG) console.info(`${Math.min(points.length, POINTS)} of ${points.length} points`)
  let kills = 0
  for (let i = 0; i < points.length; i += stride) {
    const kill = points[Math.floor(i)]
    if (kill === undefined) break
    putBack()
    if (gc({ kill }) === 'SIGKILL') kills++
    const why = `killed ${kill.when} ${kill.at} ${JSON.stringify(steps[kill.at]).slice(0, 200)}`
    await expectSound(why)
    expect(await here('gc', '--compact'), why).toMatchObject({ code: 0, json: { trouble: null } })
    await expectSound(`${why}, then run again`)
    expect(filesOf(), why).toBe(packs)
    expect(readdirSync(join(rig.top, 'home', 'store', 'tmp')), why).toEqual([])
    expect((await here('restore', checkpoint, '--dry-run')).json, why).toMatchObject({ deleted: ['a', 'b'] })
  }
  expect(kills).toBeGreaterThan(Math.min(POINTS, points.length) * 0.8)
}, 3_600_000)
