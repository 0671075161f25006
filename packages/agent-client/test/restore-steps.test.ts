import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { RestoreScene } from './support/restore-scene.ts'
import { describeStep, forAll, IS_LONG, spread } from './support/step-points.ts'
import { differences } from './support/tree-snapshot.ts'

/** Kill points of each scene: a few in CI, more than a thousand together by `pnpm test:long`. */
const POINTS = Number(process.env.TURNBACK_TEST_POINTS ?? (IS_LONG ? 400 : 4))
const timeout = 36_000_000

let scene: RestoreScene
beforeAll(() => {
  if (!IS_LONG && existsSync('/dev/shm')) process.env.TMPDIR = '/dev/shm'
})
afterEach(() => scene.dispose())

test.each([
  { files: 12, what: 'restore' },
  { files: 24, what: 'restore' },
  { files: 300, what: 'restore' },
  { files: 24, what: 'redo' },
] as const)(
  'killed before any step of a $what of $files files: none is mixed, none of the person’s is lost, the next command finishes it',
  { timeout },
  async ({ files, what }) => {
    scene = await RestoreScene.make(files, what)
    const steps = scene.listSteps()
    // What only looks leaves the disk as the step before left it.
    const writing = steps.flatMap((step, at) => (step.isWrite ? [at] : []))
    expect(writing.length).toBeGreaterThan(files)
    let [finished, kills] = [0, 0]
    const points = spread(writing, POINTS)
    await forAll(points, async (at) => {
      scene.putBack()
      const why = `killed before ${describeStep(steps, at)}`
      const { signal, status, stderr } = scene.start({ kill: { at, when: 'before' } })
      // What is done side by side takes a few steps more in one run than in another: this one had come to its end.
      if (signal === null) return expect(status, `${why}: ${stderr}`).toBe(0)
      expect(signal, why).toBe('SIGKILL')
      kills++
      expect(scene.listFaults(), why).toEqual([])
      const report = await scene.finish(why)
      if (report.recovered) finished++
      if (what === 'redo') return
      // Nothing of what was there is gone: it can all be had again. What was recorded when it was killed, and then asked for
      // again, is two steps.
      for (let n = 0; n < 2 && differences(scene.before, scene.look()).length > 0; n++)
        expect(await scene.run('redo'), why).toMatchObject({ code: 0 })
      expect(differences(scene.before, scene.look()), why).toEqual([])
    })
    if (IS_LONG) console.info(`${kills} kills`)
    expect(kills).toBeGreaterThanOrEqual(points.length * 0.9)
    expect(finished).toBeGreaterThan(0)
  },
)

test('a file that is torn, and one of the person’s that is gone, would be seen', { timeout }, async () => {
  scene = await RestoreScene.make(12, 'restore')
  scene.putBack()
  expect(scene.listFaults()).toEqual([])
  writeFileSync(scene.rig.at('d0/f0'), 'ag')
  rmSync(scene.rig.at('mine.txt'))
  expect(scene.listFaults()).toEqual(['d0/f0 is mixed', 'mine.txt is not as its owner left it'])
})
