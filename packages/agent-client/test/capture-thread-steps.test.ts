import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { errorCatalogue, type State } from '@turnback/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CaptureRig } from './support/capture-rig.ts'
import { lineOf } from './support/case-of-tree.ts'
import { runHere } from './support/command-here.ts'
import type { StepPlan } from './support/plan-step.ts'
import { viewTree } from './support/tree-oracle.ts'

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const [STEPS, CACHE, MAIN] = [
  file('./support/plan-step.ts'),
  file('../../../bin/compile-cache.mjs'),
  file('../src/main.ts'),
]
/** More than one process reads by itself. */
const FILES = 700
/** The first steps of a thread, some of each kind among the many that follow, and its last ones. */
const AT = [0, 1, 5, 13, 14, 15, 16, 17, 18, 19, 400, 1003, 1504, 2005]
const CODES = ['EIO', 'EMFILE', 'ENOSPC', 'EACCES'] as const
/** By `pnpm test:long` each with each. */
const POINTS =
  process.env.TURNBACK_TEST_LONG === '1'
    ? AT.flatMap((at) => CODES.map((code) => ({ at, code })))
    : AT.flatMap((at, i) => (i % 3 === 1 ? [{ at, code: CODES[i % 2] ?? 'EIO' }] : []))
const timeout = 3_600_000

let rig: CaptureRig
let mark: string
const homes = new Map<'begin' | 'end', string | null>([['begin', null]])
const homeOf = () => join(rig.top, 'home')

const writeAll = (text: string) => {
  for (let i = 0; i < FILES; i++) rig.write(`d${i % 9}/f${i}`, `${text} ${i}\n`.repeat(30))
}
const here = (...args: string[]) => runHere(rig.env, rig.root, args)

beforeAll(async () => {
  rig = new CaptureRig('thread-steps', false)
  mark = join(rig.top, 'mark')
  writeAll('before')
  expect(await here('begin', '--session', 's')).toMatchObject({ code: 0 })
  const open = join(rig.top, 'open')
  cpSync(homeOf(), open, { recursive: true })
  homes.set('end', open)
})
afterAll(() => rig.dispose())

function putBack(command: 'begin' | 'end'): void {
  rig.reopen()
  const home = homes.get(command) ?? null
  for (const path of [homeOf(), mark]) rmSync(path, { recursive: true, force: true })
  if (home === null) mkdirSync(homeOf())
  else cpSync(home, homeOf(), { recursive: true })
  writeAll(command === 'begin' ? 'before' : 'after')
}

function runWith(command: 'begin' | 'end', fail: NonNullable<StepPlan['fail']>) {
  const plan: StepPlan = { folders: [homeOf(), rig.root], fail }
  return spawnSync(
    process.execPath,
    ['--import', STEPS, '--import', CACHE, MAIN, command, '--session', 's', '--json'],
    { cwd: rig.root, env: { ...rig.env, TURNBACK_TEST_STEP: JSON.stringify(plan) }, encoding: 'utf8' },
  )
}

/** What the log knows of the tree: what differs from the real one, by path. */
function differences(): { path: string; known: string | undefined }[] {
  const workspace = rig.deps.log.listWorkspaces().find(({ root }) => root === rig.root)
  const known: ReadonlyMap<string, State> =
    workspace === undefined ? new Map() : rig.deps.log.getKnownTree(workspace.id)
  return [...viewTree(rig.root, null, null).states].flatMap(([path, real]) => {
    const state = known.get(path)
    const line = state === undefined ? undefined : lineOf(rig, state)
    return line === real ? [] : [{ path, known: line }]
  })
}

test.each(['begin', 'end'] as const)(
  'an error in a reading thread of %s is told as what it is, leaves nothing half-recorded, and the next capture is complete',
  { timeout },
  async (command) => {
    const failures: string[] = []
    let [hits, refusals] = [0, 0]
    for (const { at, code } of POINTS) {
      putBack(command)
      const { status, stdout, stderr, signal } = runWith(command, { at, code, markInThread: mark })
      const step = existsSync(mark) ? readFileSync(mark, 'utf8') : null
      const why = `${code} at step ${at} (${step})\n${stdout}${stderr}`
      try {
        expect(signal, why).toBe(null)
        if (step !== null) hits++
        if (status !== 0) {
          refusals++
          const { error } = JSON.parse(stdout) as { error: { code: string } }
          expect(Object.keys(errorCatalogue), why).toContain(error.code)
          expect(error.code, why).not.toBe('INTERNAL')
          expect(step, why).not.toBe(null)
          // As it was before: no turn was begun, or the one that was is open still.
          const log = await here('status')
          expect(log.json.openTurns, why).toHaveLength(command === 'begin' ? 0 : 1)
        } else {
          // What could not be read is told as that, and never as something else.
          const unread = differences()
          if (command === 'begin')
            expect(JSON.parse(stdout), why).toMatchObject({ partial: unread.length > 0 })
          for (const each of unread) expect(each.known, `${why}: ${each.path}`).toMatch(/^skipped unreadable/)
        }
        const again = await here(command, '--session', 's')
        if (status !== 0) expect(again, why).toMatchObject({ code: 0 })
        await here('begin', '--session', 'next')
        rig.reopen()
        expect(differences(), why).toEqual([])
        expect((await here('verify')).json, why).toMatchObject({
          missing: [],
          corrupt: [],
          log: [],
          packs: [],
        })
        expect(readdirSync(join(homeOf(), 'store', 'tmp')), why).toEqual([])
      } catch (error) {
        failures.push(error instanceof Error ? error.message : String(error))
      }
    }
    expect(failures, `${failures.length} of ${POINTS.length}`).toEqual([])
    expect(hits).toBeGreaterThan(POINTS.length / 2)
    expect(refusals).toBeGreaterThan(0)
  },
)

test('when the thread that searches for secrets can not be had, that is told, and the next search has it', async () => {
  const script = file('./support/secret-thread-starved.ts')
  const run = ['-c', 'ulimit -n 120 && exec "$0" "$@"', process.execPath, '--import', CACHE, script]
  const { stdout, stderr } = spawnSync('sh', run, { encoding: 'utf8' })
  expect(stderr).toBe('')
  expect(JSON.parse(stdout)).toEqual({
    error: expect.objectContaining({
      code: 'NOT_RECORDED',
      details: { what: 'the search for secrets', why: expect.stringContaining('EMFILE') },
    }),
    fed: 'a token: [masked] and more',
  })
})
