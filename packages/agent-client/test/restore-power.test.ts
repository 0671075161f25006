import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { SeededRandom } from '@turnback/core/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runHere } from './support/command-here.ts'
import { loseSome, type Recording, record, wakeUp } from './support/power-loss.ts'
import { RestoreScene } from './support/restore-scene.ts'
import { IS_LONG } from './support/step-points.ts'
import { differences } from './support/tree-snapshot.ts'

/** Power cuts that are tried. */
const CUTS = IS_LONG ? 3_000 : 40
const timeout = 3_600_000

let scene: RestoreScene
beforeAll(async () => {
  if (existsSync('/dev/shm')) process.env.TMPDIR = '/dev/shm'
  scene = await RestoreScene.make(12, 'restore')
})
afterAll(() => scene.dispose())

const places = (name: string) => ({
  root: scene.rig.root,
  store: join(scene.home, 'store'),
  copies: join(scene.rig.top, name),
})

async function recordOne(name: string): Promise<Recording> {
  scene.putBack()
  const run = () => runHere(scene.rig.env, scene.rig.root, scene.args)
  return record(places(name), async () => expect(await run()).toMatchObject({ code: 0 }))
}

/** What is wrong after the power came back, before anybody does anything, and after the command was given again. */
async function findViolation(
  recording: Recording,
  count: number,
  random: SeededRandom,
): Promise<string | null> {
  scene.putBack()
  wakeUp(loseSome(recording, count, random), places('wake'))
  const { log } = scene.rig.deps
  const workspace = log.listWorkspaces()[0]
  if (workspace === undefined) throw new Error('no workspace')
  const hasJournal = log.findJournal(workspace.id) !== null
  const isRecorded = log.listRestores(workspace.id).length > 0
  scene.rig.reopen()
  if (!hasJournal) {
    const wanted = isRecorded ? scene.after : scene.before
    const wrong = differences(wanted, scene.look())
    if (wrong.length > 0)
      return `${isRecorded ? 'told as done' : 'nobody knows that it began'}: ${wrong.join(', ')}`
  }
  const { code, report } = await scene.run(...scene.args)
  const wrong = differences(scene.after, scene.look())
  return wrong.length === 0 && code === 0
    ? null
    : `exit ${code}, ${wrong.join(', ')} ${JSON.stringify(report)}`
}

/** @param first the power goes after so many effects at least */
async function listViolations(
  recording: Recording,
  cuts: number,
  stopAt: number,
  first = 0,
): Promise<string[]> {
  const random = new SeededRandom(3)
  const found: string[] = []
  for (let i = 0; i < cuts && found.length < stopAt; i++) {
    const count = first + random.below(recording.effects.length + 1 - first)
    const wrong = await findViolation(recording, count, random)
    if (wrong !== null) found.push(`cut ${i} after ${count} of ${recording.effects.length}: ${wrong}`)
  }
  return found
}

test(`${CUTS} power cuts: what is told is so, and the next command completes the rest`, {
  timeout,
}, async () => {
  expect(await listViolations(await recordOne('right'), CUTS, 5)).toEqual([])
})

test('without the sync of the journal the model finds a violation', { timeout }, async () => {
  const { exec } = DatabaseSync.prototype
  DatabaseSync.prototype.exec = function (sql) {
    exec.call(this, sql.replaceAll('synchronous = FULL', 'synchronous = OFF'))
  }
  let recording: Recording
  try {
    recording = await recordOne('unsynced')
  } finally {
    DatabaseSync.prototype.exec = exec
  }
  expect((await listViolations(recording, 500, 1)).join()).toMatch(/nobody knows that it began/)
})

test.each([
  { what: 'the files', kind: 'file', told: /d\d\/f\d|told as done|changed-after-turn/ },
  { what: 'the folders', kind: 'folder', told: /told as done/ },
] as const)('without the sync of $what the model finds a violation', { timeout }, async ({ kind, told }) => {
  const recording = await recordOne(kind)
  const effects = recording.effects.filter(
    (effect) =>
      effect.do !== 'sync' ||
      (recording.born.get(effect.node) ?? recording.start.get(effect.node))?.kind !== kind,
  )
  expect(effects.length).toBeLessThan(recording.effects.length)
  expect(
    (await listViolations({ ...recording, effects }, 500, 1, kind === 'folder' ? effects.length : 0)).join(),
  ).toMatch(told)
})
