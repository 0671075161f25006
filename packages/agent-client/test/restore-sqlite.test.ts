import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { TurnId } from '@turnback/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createTreeWriter, type WriterOptions } from '#worktree/tree-writer.ts'
import { attachRig, openRig, type Rig } from './support/restore-rig.ts'

const HEAD = 'SQLite format 3\0'

let rig: Rig
beforeEach(async () => {
  rig = await openRig()
})
afterEach(() => rig.close())

/** An agent wrote to a database and left its log, beside files that come before and after. */
async function turnWithLog(): Promise<TurnId> {
  for (const path of ['a.txt', 'z.txt']) rig.put(path, 'v1')
  rig.put('app.db', `${HEAD}old pages`)
  return rig.turn('A', () => {
    for (const path of ['a.txt', 'z.txt']) rig.put(path, 'agent')
    rig.put('app.db', `${HEAD}new pages`)
    rig.put('app.db-wal', 'newer pages')
  })
}

const withMoments = (onMoment: NonNullable<WriterOptions['onMoment']>): Promise<Rig> =>
  attachRig(rig.top, (deps) => ({
    ...deps,
    writer: (workspace, restore) =>
      createTreeWriter({ workspace, restore, blobs: deps.blobs, random: deps.random, onMoment }),
  }))

test('a database gets its old bytes right after its newer log went, and never stands beside it', async () => {
  const turn = await turnWithLog()
  const moments: string[] = []
  const watched = await withMoments((moment, path) => {
    moments.push(`${moment} ${path}`)
    const isOld = !rig.read('app.db').includes('new pages')
    expect(isOld && existsSync(join(rig.root, 'app.db-wal')), `${moment} ${path}`).toBe(false)
  })
  expect(await watched.restore(turn)).toMatchObject({ status: 'done', deleted: ['app.db-wal'] })
  const from = moments.indexOf('aside app.db-wal')
  expect(moments.slice(from, from + 5)).toEqual([
    ...['aside app.db-wal', 'unlink app.db-wal'],
    ...['place app.db', 'link app.db', 'rename app.db'],
  ])
  watched.deps.close()
})

test('what a program commits to the log meanwhile keeps the whole database, and nothing else', async () => {
  const turn = await turnWithLog()
  const busy = await withMoments((moment, path) => {
    if (moment === 'sync' && path === 'app.db') rig.put('app.db-wal', 'newer pages, and a commit')
  })
  const report = await busy.restore(turn)
  expect(report).toMatchObject({ status: 'done', restored: ['a.txt', 'z.txt'], deleted: [] })
  expect(report.kept.map(({ path, reason }) => `${path} ${reason}`)).toEqual([
    'app.db changed-after-turn',
    'app.db-wal changed-after-turn',
  ])
  expect([rig.read('app.db'), rig.read('app.db-wal')]).toEqual([
    `${HEAD}new pages`,
    'newer pages, and a commit',
  ])
  busy.deps.close()
})
