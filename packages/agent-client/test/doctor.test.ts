import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { gradeOf } from '#worktree/anchored.ts'
import { CaptureRig } from './support/capture-rig.ts'
import { runHere } from './support/command-here.ts'

let rig: CaptureRig
beforeEach(() => {
  rig = new CaptureRig('doctor')
})
afterEach(() => rig.dispose())

const doctor = () => runHere(rig.env, rig.root, ['doctor'])

test('a machine that is well: the grade of containment, the store, the resident and the watcher', async () => {
  rig.write('a.txt')
  await runHere(rig.env, rig.root, ['init'])
  const { code, json } = await doctor()
  const grade = process.platform === 'linux' ? 'A' : process.platform === 'win32' ? 'C' : 'B'
  expect(json).toMatchObject({
    ...{ ok: true, problems: [], containment: { grade }, resident: null },
    store: { ok: true, isPrivate: true, folder: join(rig.top, 'home/store') },
    watcher: { state: process.platform === 'linux' ? 'no-resident' : 'not-here' },
    workspace: { root: rig.root, interruptedRestore: null },
  })
  expect(code).toBe(0)
})

test('a store that others may look into, and one that cannot be opened, are told with what to do', async () => {
  await doctor()
  const store = join(rig.top, 'home/store')
  chmodSync(store, 0o755)
  const open = await doctor()
  expect(open.code).toBe(1)
  expect(open.json).toMatchObject({ ok: false, problems: [{ remedy: `chmod 700 ${store}` }] })

  mkdirSync(join(rig.top, 'other'))
  writeFileSync(join(rig.top, 'other/config.json'), '{ not json')
  const broken = await runHere({ ...rig.env, TURNBACK_HOME: join(rig.top, 'other') }, rig.root, ['doctor'])
  expect(broken.code).toBe(1)
  expect(broken.json).toMatchObject({
    ...{ ok: false, containment: { grade: expect.any(String) }, workspace: null },
    store: { ok: false, error: { code: 'CONFIG_INVALID' } },
  })
})

test('the grade is what the system and the way of reaching files allow', () => {
  expect(gradeOf('linux', 'descriptor')).toBe('A')
  expect(gradeOf('linux', 'checked'), 'a bare container').toBe('B')
  expect(gradeOf('darwin', 'checked')).toBe('B')
  expect(gradeOf('win32', 'checked')).toBe('C')
})
