import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { golden, HookScene } from './support/hook-scene.ts'
import { ResidentRig } from './support/resident-rig.ts'

let rig: ResidentRig
beforeAll(() => {
  rig = new ResidentRig()
})
afterAll(() => rig.dispose())

test.each(['alone', 'by the resident'])(
  'what Codex’s notify gives as the last word ends the turn: %s',
  async (how) => {
    if (how !== 'alone') await rig.connect()
    const scene = new HookScene(rig, 'codex')
    await scene.hook('prompt')
    const home = join(rig.top, 'user')
    const notice = golden('codex', 'notify', { tree: scene.tree, home }, { 'thread-id': scene.session })
    const { code, stdout } = await rig.run(['hook', 'codex', JSON.stringify(notice)], {
      cwd: scene.tree,
      input: '',
    })
    expect([code, stdout.toString()]).toEqual([0, ''])
    expect(await scene.json('log')).toMatchObject({ turns: [{ endReason: 'completed' }] })
  },
)
