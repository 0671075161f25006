import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { TaskRig } from './support/task-rig.ts'
import { snapshotTree } from './support/tree-snapshot.ts'

let rig: TaskRig
const LINES = 'a\nb\nc\nd\ne\nf\ng\n'

beforeEach(() => {
  rig = new TaskRig('revert')
  rig.initGit({ 'a.txt': LINES, 'src/b.txt': 'b\n' })
})

afterEach(() => rig.dispose())

const land = async (id: string, line: string) => {
  const { code, json } = await rig.task(id, line, '--commit')
  expect([code, json.error]).toEqual([0, undefined])
}
const revert = (id: string) => rig.here(['revert', id, '--json'])
const errorOf = (json: Record<string, unknown>) => {
  const { error } = json
  if (typeof error !== 'object' || error === null) throw new Error('no error')
  return error
}

test('made, deleted, renamed, linked and run: all of it goes back, in the tree and in git', async () => {
  rig.write('keep/x.txt', 'x\n', 0o600)
  rig.git('add', '-A')
  rig.git('commit', '-qm', 'more')
  const before = snapshotTree(rig.root)
  await land(
    't',
    'mkdir n; echo n > n/n; rm src/b.txt; rmdir src; mv keep/x.txt y.txt; rmdir keep; ln -s y.txt l; chmod +x a.txt',
  )
  const { code } = await revert('t')
  expect(code).toBe(0)
  expect(rig.facts().status).toBe('')
  expect(rig.git('diff', '--stat', 'HEAD~2')).toBe('')
  const after = snapshotTree(rig.root)
  expect([...after.keys()]).toEqual([...before.keys()])
  expect(after.get('a.txt')).toBe(before.get('a.txt'))
})

test('staged and uncommitted work in the same file stays as it is, beside what is reverted', async () => {
  await land('t', 'sed -i s/d/DD/ a.txt')
  const landed = LINES.replace('d', 'DD')
  rig.write('a.txt', `MINE\n${landed}`)
  rig.git('add', 'a.txt')
  rig.write('a.txt', `MINE\n${landed}MORE\n`)
  expect((await revert('t')).code).toBe(0)
  expect(rig.git('show', 'HEAD:a.txt')).toBe(LINES)
  expect(rig.git('show', ':a.txt')).toBe(`MINE\n${LINES}`)
  expect(rig.text('a.txt')).toBe(`MINE\n${LINES}MORE\n`)
})

describe('where it can not be told apart nothing is done, and it is explained', () => {
  const nothingDone = async (id: string) => {
    const [facts, files, head] = [rig.facts(), snapshotTree(rig.root), rig.git('rev-parse', 'HEAD')]
    const { code, json } = await revert(id)
    expect(code).toBe(3)
    expect([rig.facts(), rig.git('rev-parse', 'HEAD')]).toEqual([facts, head])
    expect(snapshotTree(rig.root)).toEqual(files)
    return errorOf(json)
  }

  test('from later tasks: they are named, with the next command', async () => {
    await land('t-1', 'sed -i s/d/DD/ a.txt; echo n > n')
    await land('t-2', 'echo other > other')
    await land('t-3', 'sed -i s/DD/DDD/ a.txt')
    expect(await nothingDone('t-1')).toMatchObject({
      code: 'REVERT_REFUSED',
      details: {
        paths: ['a.txt: later commits changed the same places'],
        laterTasks: ['t-3'],
        next: 'turnback revert t-3',
      },
    })
    // And that is the way.
    expect((await revert('t-3')).code).toBe(0)
    expect((await revert('t-1')).code).toBe(0)
    expect(rig.git('diff', '--stat', 'HEAD~5', '--', 'a.txt', 'n')).toBe('')
    expect(rig.text('other')).toBe('other\n')
  })

  test('from uncommitted work in the same places', async () => {
    await land('t', 'sed -i s/d/DD/ a.txt')
    rig.write('a.txt', LINES.replace('d', 'DDmine'))
    expect(await nothingDone('t')).toMatchObject({
      details: { paths: ['a.txt: it has uncommitted changes in the same places'] },
    })
  })

  test('from a file of the person’s in the way', async () => {
    await land('t', 'rm src/b.txt')
    rig.write('src/b.txt', 'mine\n')
    expect(await nothingDone('t')).toMatchObject({
      details: { paths: [expect.stringContaining('src/b.txt')] },
    })
  })

  test('from other tasks in one commit', async () => {
    await land('t-1', 'echo 1 > one')
    await land('t-2', 'echo 2 > two')
    rig.git('reset', '-q', '--soft', 'HEAD~2')
    rig.git('commit', '-qm', 'both\n\nTask-Id: t-1\nTask-Id: t-2')
    expect(await nothingDone('t-1')).toMatchObject({ details: { tasks: ['t-1', 't-2'] } })
  })

  test('when it was reverted already, also by git itself', async () => {
    await land('t-1', 'echo 1 > one')
    expect((await revert('t-1')).code).toBe(0)
    expect(await nothingDone('t-1')).toMatchObject({ message: expect.stringContaining('reverted already') })
    await land('t-2', 'echo 2 > two')
    rig.git('revert', '--no-edit', 'HEAD')
    expect(await nothingDone('t-2')).toMatchObject({ message: expect.stringContaining('reverted already') })
  })
})

test('of a task that landed twice the later is reverted, then the earlier', async () => {
  await land('t', 'echo 1 > one')
  await land('t', 'echo 2 > two')
  await land('t-10', 'echo 3 > three')
  const [second, first] = [1, 2].map((n) => rig.git('rev-parse', `HEAD~${n}`).trim())
  expect((await revert('t')).json).toMatchObject({ commit: second })
  expect((await revert('t')).json).toMatchObject({ commit: first })
  expect((await revert('t')).code).toBe(3)
  expect(rig.git('ls-files').trim().split('\n')).toEqual(['a.txt', 'src/b.txt', 'three'])
})

test('a hook that refuses keeps all as it was', async () => {
  await land('t', 'echo x >> a.txt; rm src/b.txt')
  mkdirSync(rig.at('.git/hooks'), { recursive: true })
  writeFileSync(
    rig.at('.git/hooks/pre-commit'),
    '#!/bin/sh\ngrep -q x a.txt || { echo "x is wanted"; exit 1; }\n',
  )
  chmodSync(rig.at('.git/hooks/pre-commit'), 0o755)
  const [facts, files] = [rig.facts(), snapshotTree(rig.root)]
  const { code, json } = await revert('t')
  expect(code).toBe(1)
  expect(errorOf(json)).toMatchObject({ code: 'LANDING_FAILED', details: { said: 'x is wanted' } })
  expect(rig.facts()).toEqual(facts)
  expect(snapshotTree(rig.root)).toEqual(files)
})

describe('a task that was not committed', () => {
  test('is taken back by its turns, and later work is kept', async () => {
    await rig.task('t-1', 'sed -i s/b/BB/ a.txt; echo n > n')
    await rig.task('t-2', 'sed -i s/f/FF/ a.txt')
    const { code, json } = await revert('t-1')
    expect([code, json.commit]).toEqual([0, null])
    expect(rig.text('a.txt')).toBe(LINES.replace('f', 'FF'))
    expect((await revert('t-1')).code).toBe(1)
  })

  test('is left whole where later work is in the same places', async () => {
    await rig.task('t-1', 'sed -i s/b/BB/ a.txt; echo n > n')
    await rig.task('t-2', 'sed -i s/BB/BBB/ a.txt')
    const files = snapshotTree(rig.root)
    const { code, json } = await revert('t-1')
    expect(code).toBe(3)
    expect(errorOf(json)).toMatchObject({ details: { laterTasks: ['t-2'], next: 'turnback revert t-2' } })
    expect(snapshotTree(rig.root)).toEqual(files)
  })

  test('is not found when nobody knows it', async () => {
    await rig.task('t-1', 'echo n > n')
    const { code, json } = await revert('t-9')
    expect([code, errorOf(json)]).toEqual([1, expect.objectContaining({ code: 'TASK_NOT_FOUND' })])
  })
})
