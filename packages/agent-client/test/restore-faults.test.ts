import { existsSync } from 'node:fs'
import type { RestoreReport } from '@turnback/core'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { runHere } from './support/command-here.ts'
import { type Step, watchSteps } from './support/fs-steps.ts'
import { isTemp, RestoreScene } from './support/restore-scene.ts'
import { makeError } from './support/step-error.ts'
import { describeStep, forAll, IS_LONG, spread } from './support/step-points.ts'
import { differences, type TreeSnapshot } from './support/tree-snapshot.ts'

const CODES = ['ENOSPC', 'EIO', 'EACCES', 'EBUSY'] as const
/** Points of each scene: a spread in CI, each step with each code by `pnpm test:long`. */
const POINTS = Number(process.env.TURNBACK_TEST_POINTS ?? (IS_LONG ? Number.POSITIVE_INFINITY : 40))
const timeout = 36_000_000

let scene: RestoreScene
beforeAll(() => {
  if (!IS_LONG && existsSync('/dev/shm')) process.env.TMPDIR = '/dev/shm'
})
afterEach(() => scene.dispose())

type Answer = Awaited<ReturnType<typeof runHere>>

/** The command in this process, with each of its steps told to `onStep`; what is thrown there takes the step's place. */
async function runWatched(onStep: (step: Step, at: number) => void): Promise<Answer> {
  let count = -1
  const stop = watchSteps([scene.home, scene.rig.root], (step, when) => {
    if (when === 'before') onStep(step, ++count)
  })
  try {
    return await runHere(scene.rig.env, scene.rig.root, scene.args)
  } finally {
    stop()
  }
}

async function listSteps(): Promise<Step[]> {
  const steps: Step[] = []
  await runWatched((step) => steps.push(step))
  return steps
}

/** What the answer says that is not so. */
function listLies({ code, json }: Answer, now: TreeSnapshot): string[] {
  const changed = differences(scene.before, now).filter((line) => !isTemp(line))
  const report = json as unknown as RestoreReport
  if (report.status === undefined) {
    const { error } = json as { error?: { code: string; message: string } }
    const isTold = error !== undefined && error.message !== ''
    const lies = isTold ? [] : [`no report and no error: ${JSON.stringify(json)}`]
    const isSaid = error?.message.includes('`turnback recover` finishes it') === true
    return changed.length === 0 || isSaid ? lies : [...lies, `nothing is said of ${changed.join(', ')}`]
  }
  const { failed, kept, restored, deleted, merged, directories, status } = report
  const done = [...restored, ...merged, ...deleted, ...directories.restored, ...directories.deleted]
  const left = kept.map(({ path }) => path)
  // What failed is whole, before or after; that is all that can be said of it.
  const told = [...done, ...left, ...failed.map(({ path }) => path)]
  const lies = [
    ...done
      .filter((path) => now.get(path) !== scene.after.get(path))
      .map((path) => `${path} is told as done`),
    ...left
      .filter((path) => now.get(path) !== scene.before.get(path) && now.get(path) !== undefined)
      .map((path) => `${path} is told as left`),
    ...changed
      .map((line) => line.slice(0, line.lastIndexOf(': ')))
      .filter((path) => !told.includes(path))
      .map((path) => `${path} is not told of`),
  ]
  const exits = { done: 0, 'nothing-to-do': 0, failed: 1, refused: 3, 'partly-done': 4 } as const
  if (exits[status] !== code) lies.push(`exit ${code} for ${status}`)
  const isTrouble = failed.length > 0 || report.error !== undefined
  if (isTrouble !== (status === 'partly-done' || status === 'failed'))
    lies.push(`${status} with ${failed.length} failed`)
  if (report.verified && failed.length > 0) lies.push('verified though some failed')
  return lies
}

test.each([
  { files: 12, what: 'restore' },
  { files: 12, what: 'redo' },
] as const)(
  'an error at any step of a $what is told as what it is, and a second run completes',
  { timeout },
  async ({ files, what }) => {
    scene = await RestoreScene.make(files, what)
    const steps = await listSteps()
    const places = steps.map((_, at) => at)
    const all = IS_LONG
      ? spread(
          places.flatMap((at) => CODES.map((code) => ({ at, code }))),
          POINTS,
        )
      : spread(places, POINTS).map((at, i) => ({ at, code: CODES[i % CODES.length] ?? 'EIO' }))
    const exits = new Set<number>()
    await forAll(all, async ({ at, code }) => {
      scene.putBack()
      // What is done side by side is not always done in the same order.
      let why = `${code} at ${at}`
      const answer = await runWatched((step, now) => {
        if (now !== at) return
        why = `${code} at ${describeStep([step], 0)}`
        throw makeError(step, code)
      })
      exits.add(answer.code)
      expect(scene.listFaults(), why).toEqual([])
      expect(listLies(answer, scene.look()), `${why}\n${JSON.stringify(answer)}`).toEqual([])
      // A redo that did a part of it was one, so the rest is asked for by name.
      await scene.finish(why, scene.undone === null ? scene.args : ['restore', scene.undone])
      expect([...scene.look().keys()].filter(isTemp), why).toEqual([])
    })
    expect([...exits]).toContain(4)
  },
)
