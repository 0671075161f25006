import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type PlanOptions, planRestore, type RestorePlan, type TurnId } from '@turnback/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { WHOLE_TURNS } from '#restore/ask.ts'
import { planInput } from '#restore/facts.ts'
import { WholeBlobs } from '#restore/whole-blobs.ts'
import { openRig, type Rig } from './support/restore-rig.ts'

let rig: Rig
beforeEach(async () => {
  rig = await openRig()
})
afterEach(() => rig.close())

/** A log in which nearly everything that plans look at is somewhere, and much that does not concern the later turns. */
async function longLog(): Promise<TurnId[]> {
  for (let i = 0; i < 30; i++) rig.put(`old/${i % 3}/f${i}.txt`, `as it was ${i}\n`)
  const database = new DatabaseSync(join(rig.root, 'app.db'))
  database.exec('CREATE TABLE t(x); INSERT INTO t VALUES (1)')
  database.close()
  const turns: TurnId[] = []
  for (let n = 0; n < 6; n++)
    turns.push(
      await rig.turn(n % 2 === 0 ? 'A' : 'B', () => rig.put(`old/${n % 3}/f${n}.txt`, `turn ${n}\n`)),
    )
  turns.push(await rig.turn('A', () => rmSync(join(rig.root, 'old/2'), { recursive: true })))
  await rig.undo()
  rig.put('by-hand.txt', 'a person')
  rig.put('old/0/f0.txt', 'a person too\n')
  // Two at once: whose the second file is nobody knows.
  const both = [await rig.begin('A'), await rig.begin('B')]
  rig.put('old/1/f1.txt', 'one of them\n')
  rig.put('new/deep/n.txt', 'made')
  await rig.end('A')
  rig.put('old/1/f4.txt', 'B alone\n')
  await rig.end('B')
  turns.push(...both)
  turns.push(
    await rig.turn('A', () => {
      renameSync(join(rig.root, 'new'), join(rig.root, 'newer'))
      writeFileSync(join(rig.root, 'app.db-wal'), 'half a log')
      mkdirSync(join(rig.root, 'kind'))
      rig.put('old/0/f3.txt', 'last\n')
    }),
  )
  rig.put('app.db-journal', 'by hand')
  await rig.redo()
  for (let n = 0; n < 3; n++) turns.push(await rig.turn('B', () => rig.put('last.txt', `${n}\n`)))
  return [...turns, ...rig.turns().flatMap((row) => (row.kind === 'restore' ? [row.turn] : []))]
}

const WISHES: Partial<PlanOptions>[] = [
  {},
  ...(['turn', 'session', 'all-sessions'] as const).map((scope) => ({ scope })),
  ...(['save', 'merge'] as const).map((onConflict) => ({ onConflict })),
  { exact: true },
  { exact: true, scope: 'all-sessions' },
  { paths: ['old/1', 'app.db'] },
]

test('a plan made of what concerns it is the plan made of the whole log', { timeout: 120_000 }, async () => {
  const turns = await longLog()
  const { deps, workspace } = rig
  const tree = deps.log.getKnownTree(workspace.id)
  const all = deps.log.listChanges(workspace.id)
  let steps = 0
  let spared = 0
  for (const target of turns)
    for (const wish of WISHES) {
      const request = { ...WHOLE_TURNS, ...wish, target }
      const plans: RestorePlan[] = []
      const content = new WholeBlobs(deps, workspace, 'name-only')
      const given = planInput(deps, workspace, tree, request, content)
      const whole = { ...given, changes: all, events: deps.log.listRestoreEvents(workspace.id) }
      for (const input of [given, whole]) {
        plans.push(planRestore(input))
        while (await content.answer()) plans[plans.length - 1] = planRestore(input)
      }
      expect(plans[0], `${target} ${JSON.stringify(wish)}`).toEqual(plans[1])
      steps += plans[0]?.steps.length ?? 0
      spared += all.length - given.changes.length
    }
  // Neither were the plans empty nor was the log read whole.
  expect(steps).toBeGreaterThan(100)
  expect(spared / turns.length / WISHES.length).toBeGreaterThan(all.length / 4)
})
