import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { errorCatalogue, type State, type TurnManifest } from '@turnback/core'
import { SeededRandom } from '@turnback/core/testing'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CaptureRig } from './support/capture-rig.ts'
import { lineOf, playCase, readEntries, treeCase } from './support/case-of-tree.ts'
import { runHere } from './support/command-here.ts'
import type { Step } from './support/fs-steps.ts'
import type { StepPlan } from './support/plan-step.ts'
import { Editor } from './support/random-tree.ts'
import { describeStep, forAll, IS_LONG, spread } from './support/step-points.ts'
import { type Difference, diffViews, type View, viewTree } from './support/tree-oracle.ts'

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const [STEPS, CACHE, MAIN] = [
  file('./support/plan-step.ts'),
  file('../../../bin/compile-cache.mjs'),
  file('../src/main.ts'),
]
/** Points of each scene in one run of the tests; all of them by `pnpm test:long`, or so many as are asked for. */
const POINTS = IS_LONG ? Number(process.env.TURNBACK_TEST_POINTS ?? Number.POSITIVE_INFINITY) : null
const KILLS = POINTS ?? 4
const FAILS = POINTS ?? 8
const KILLED_TREES = IS_LONG ? Math.min(POINTS ?? 200, 200) : 6
const CODES = ['ENOSPC', 'EIO', 'EACCES', 'EMFILE'] as const
const timeout = 36_000_000

const BEGIN = ['begin', '--session', 's1', '--turn', 'k', '--json']
const END = ['end', '--session', 's1', '--turn', 'k', '--json']

/** A command and what there is when it comes. Whatever happens in it, in the end the log must say the same. */
interface Scene {
  readonly args: readonly string[]
  /** Copy of the home before the command; null for none yet. */
  readonly home: string | null
  readonly outside: readonly Difference[]
  readonly turn: readonly Difference[]
  /** Signed before it: nothing may change them. */
  readonly complete: readonly TurnManifest[]
}

let rig: CaptureRig
let after: View
const scenes = new Map<string, Scene>()

beforeAll(async () => {
  rig = new CaptureRig('steps', false)
  rig.write('.gitignore', '*.log\n')
  rig.write('run.log', 'ignored')
  for (let i = 0; i < 6; i++) rig.write(`src/d${i % 2}/f${i}`, `file ${i}\n`.repeat(40))
  symlinkSync('src', rig.at('link'))
  rig.write('src/d0/f0', 'as it was')
  await rig.init()
  const complete = [
    await rig.turn(() => rig.write('src/made', 'by turn 1')),
    await rig.turn(() => rmSync(rig.at('src/made'))),
  ]
  const start = viewTree(rig.root, null, null)
  const idle = keepHome('idle')
  rig.write('src/d0/f0', 'changed by hand')
  takeBackAgent()
  const byHand = viewTree(rig.root, start, null)
  expect(rig.run(BEGIN).code).toBe(0)
  const open = keepHome('open')
  playAgent()
  after = viewTree(rig.root, byHand, null)
  const [outside, turn] = [diffViews(start, byHand), diffViews(byHand, after)]
  scenes.set('the first capture', { args: BEGIN, home: null, outside: [], turn, complete: [] })
  scenes.set('begin', { args: BEGIN, home: idle, outside, turn, complete })
  scenes.set('end', { args: END, home: open, outside, turn, complete })
})
afterAll(() => rig.dispose())

function playAgent(): void {
  rig.write('.env', 'KEY=by the agent')
  rig.write('src/d1/f1', 'by the agent\n'.repeat(30))
  rig.write('new/file', 'made')
  rmSync(rig.at('src/d0/f2'), { force: true })
  chmodSync(rig.at('src/d1/f3'), 0o755)
}

function takeBackAgent(): void {
  rig.write('.env', 'KEY=first')
  rig.write('src/d1/f1', 'before the agent')
  rmSync(rig.at('new'), { recursive: true, force: true })
  rig.write('src/d0/f2', 'before the agent')
  chmodSync(rig.at('src/d1/f3'), 0o644)
}

const homeOf = () => join(rig.top, 'home')

function keepHome(name: string): string {
  rig.reopen()
  const copy = join(rig.top, name)
  cpSync(homeOf(), copy, { recursive: true })
  return copy
}

function putBack({ home, args }: Scene): void {
  rig.reopen()
  rmSync(homeOf(), { recursive: true, force: true })
  if (home === null) mkdirSync(homeOf())
  else cpSync(home, homeOf(), { recursive: true })
  if (args === END) playAgent()
  else takeBackAgent()
}

function start({ args }: Pick<Scene, 'args'>, plan: Omit<StepPlan, 'folders'>, on: CaptureRig = rig) {
  const steps: StepPlan = { folders: [join(on.top, 'home'), on.root], ...plan }
  return spawnSync(process.execPath, ['--import', STEPS, '--import', CACHE, MAIN, ...args], {
    cwd: on.root,
    env: { ...on.env, TURNBACK_TEST_STEP: JSON.stringify(steps) },
    encoding: 'utf8',
  })
}

/** All that the command does when nothing disturbs it. */
async function listSteps(scene: Scene): Promise<Step[]> {
  putBack(scene)
  const list = join(rig.top, 'steps.json')
  expect(start(scene, { list }).status).toBe(0)
  await finish(scene, 'undisturbed', 'exact')
  return JSON.parse(readFileSync(list, 'utf8')) as Step[]
}

const here = (args: readonly string[]) =>
  runHere(
    rig.env,
    rig.root,
    args.filter((arg) => arg !== '--json'),
  )

/**
 * Goes on as an agent would that knows nothing of what happened, and looks at everything then.
 * @param mayLack `told`: what could not be read may be missing, as long as the turn says that it is not complete
 */
async function finish(scene: Scene, why: string, mayLack: 'exact' | 'told'): Promise<void> {
  if (scene.args === BEGIN) {
    expect(await here(BEGIN), why).toMatchObject({ code: 0 })
    playAgent()
  }
  const ended = await here(END)
  // It may have been done already.
  if (ended.code !== 0) expect(ended.json, why).toMatchObject({ error: { code: 'NO_OPEN_TURN' } })
  const turns = await listManifests()
  expect(turns.slice(0, scene.complete.length), why).toEqual(scene.complete)
  const agents = turns.slice(scene.complete.length).filter(({ kind }) => kind === 'agent')
  const outsides = turns.filter(({ kind }) => kind === 'outside').flatMap(entriesOf(scene.outside, mayLack))
  const found = agents.flatMap(entriesOf(scene.turn, mayLack))
  if (mayLack === 'exact' || agents[0]?.coverage.complete === true) {
    expect(agents, why).toHaveLength(1)
    expect({ outside: outsides, turn: found }, why).toEqual({ outside: scene.outside, turn: scene.turn })
  } else {
    // What was not seen is not told, or told as not known; never as gone, and never as something else.
    for (const { path, before, after } of [...outsides, ...found]) {
      const real = [...scene.outside, ...scene.turn].filter((each) => each.path === path)
      const isUnknown = [before, after].some((state) => state.startsWith('skipped'))
      if (!isUnknown)
        expect(
          real.map((each) => each.after),
          `${why}: ${path}`,
        ).toContain(after)
    }
    await here(['begin', '--session', 's2'])
    await here(['end', '--session', 's2'])
  }
  expect(stateOfLog(), why).toEqual(after.states)
  expect((await here(['verify'])).json, why).toMatchObject({ missing: [], corrupt: [], log: [], packs: [] })
  expect(readdirSync(join(homeOf(), 'store', 'tmp')), why).toEqual([])
}

/** What a first look could not read, and a second one could, is no change; it may be listed where that was told. */
function entriesOf(expected: readonly Difference[], mayLack: 'exact' | 'told') {
  const paths = new Set(expected.map(({ path }) => path))
  return (manifest: TurnManifest): Difference[] =>
    readEntries(rig, manifest).filter(
      ({ path, before }) => mayLack === 'exact' || paths.has(path) || before !== 'skipped unreadable',
    )
}

/** Oldest first. */
async function listManifests(): Promise<TurnManifest[]> {
  rig.reopen()
  const workspace = rig.deps.log.listWorkspaces().find(({ root }) => root === rig.root)
  if (workspace === undefined) throw new Error('the workspace is not in the log')
  await rig.deps.capture.settle(workspace)
  return rig.deps.log.listTurns(workspace.id).map(({ turn }) => rig.deps.log.getManifest(turn))
}

function stateOfLog(): Map<string, string> {
  const workspace = rig.deps.log.listWorkspaces().find(({ root }) => root === rig.root)
  const tree: ReadonlyMap<string, State> =
    workspace === undefined ? new Map() : rig.deps.log.getKnownTree(workspace.id)
  return new Map([...tree].map(([path, state]) => [path, lineOf(rig, state)]))
}

function isTurning({ call, target }: Step): boolean {
  return call === 'writevSync' || (call === 'exec' && target === 'COMMIT')
}

test.each(['the first capture', 'begin', 'end'])(
  'killed at any step of %s: no turn is lost, the store is sound, the next capture needs no hand',
  { timeout },
  async (name) => {
    const scene = scenes.get(name)
    if (scene === undefined) throw new Error(name)
    const steps = await listSteps(scene)
    // What has just been kept or written, and is not yet told of, is lost first by a wrong order; the rest is spread.
    const turning = steps.flatMap((step, at) => (isTurning(step) ? [{ at, when: 'after' as const }] : []))
    const others = steps.flatMap((step, at) => [
      { at, when: 'before' as const },
      ...(step.isWrite && !isTurning(step) ? [{ at, when: 'after' as const }] : []),
    ])
    await forAll([...turning, ...spread(others, KILLS)], async (kill) => {
      putBack(scene)
      const why = `killed ${kill.when} ${describeStep(steps, kill.at)}`
      expect(start(scene, { kill }).signal, why).toBe('SIGKILL')
      await finish(scene, why, 'exact')
    })
  },
)

test.each(['the first capture', 'begin', 'end'])(
  'an error at any step of %s is told as what it is, leaves nothing half-recorded, and the second run completes',
  { timeout },
  async (name) => {
    const scene = scenes.get(name)
    if (scene === undefined) throw new Error(name)
    const steps = await listSteps(scene)
    const places = steps.map((_, at) => at)
    const all = IS_LONG
      ? spread(
          places.flatMap((at) => CODES.map((code) => ({ at, code }))),
          FAILS,
        )
      : spread(places, FAILS).map((at, i) => ({ at, code: CODES[i % CODES.length] ?? 'EIO' }))
    await forAll(all, async (fail) => {
      putBack(scene)
      const why = `${fail.code} at ${describeStep(steps, fail.at)}`
      const { status, stdout, stderr, signal } = start(scene, { fail })
      expect(signal, why).toBe(null)
      if (status !== 0) {
        const { error } = JSON.parse(stdout || '{}') as { error?: { code: string; message: string } }
        expect(Object.keys(errorCatalogue), `${why}\n${stdout}${stderr}`).toContain(error?.code)
        expect(error?.message, why).not.toBe('')
      }
      await finish(scene, why, status === 0 ? 'told' : 'exact')
    })
  },
)

test(`random trees and edits, begin and end killed at random steps (${KILLED_TREES} trees)`, {
  timeout,
}, async () => {
  const other = new CaptureRig('killed', false)
  const editor = new Editor()
  const random = new SeededRandom(Number(process.env.TURNBACK_TEST_SEED ?? 1))
  let kills = 0
  let turns = 0
  const killed = (command: 'begin' | 'end') => {
    const args = [command, '--session', 's1', '--turn', `k${turns}`, '--json']
    const when = random.pick(['before', 'after'] as const)
    if (start({ args }, { kill: { at: random.below(220), when } }, other).signal === 'SIGKILL') kills++
  }
  const driver = {
    begin() {
      turns++
      killed('begin')
      return other.begin({ key: `k${turns}` })
    },
    async end() {
      killed('end')
      const isOpen = other.deps.log.listOpenTurns(other.workspace.id).length > 0
      if (isOpen) await other.end('s1', `k${turns}`)
    },
  }
  try {
    const property = fc.asyncProperty(treeCase, (whole) => playCase(other, editor, whole, driver))
    await fc.assert(property, { numRuns: KILLED_TREES, endOnFailure: true })
    expect(kills).toBeGreaterThan(turns / 2)
  } finally {
    editor.close()
    other.dispose()
  }
})
