import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AGENTS, type AgentName } from '#adapters/adapter.ts'
import { HookScene, sourcesOf } from './support/hook-scene.ts'
import { ResidentRig } from './support/resident-rig.ts'

/** What an agent's hooks tell of its model, of its program and of the end. */
const TELLS: Readonly<Record<AgentName, Readonly<Record<string, unknown>>>> = {
  'claude-code': { agent: { name: 'claude-code', version: null }, lastMessage: 'All three are done.' },
  codex: {
    agent: { name: 'codex', version: null, model: 'gpt-5.1-codex' },
    lastMessage: 'All three are done.',
  },
  opencode: { agent: { name: 'opencode', version: null, model: 'standin/standin' } },
  'gemini-cli': { agent: { name: 'gemini-cli', version: null }, lastMessage: 'All three are done.' },
  'copilot-cli': { agent: { name: 'copilot-cli', version: null } },
  cursor: { agent: { name: 'cursor', version: '3.7.21', model: 'composer-1' } },
}
/** What a hook prints that has nothing to say. */
const SILENCE: Readonly<Partial<Record<AgentName, string>>> = { 'gemini-cli': '{}', cursor: '{}' }

let rig: ResidentRig

beforeAll(() => {
  rig = new ResidentRig()
})
afterAll(() => rig.dispose())

describe.each(['alone', 'by the resident'])('%s', (how) => {
  beforeAll(async () => {
    if (how !== 'alone') await rig.connect()
  })

  test.each(AGENTS)(
    'a whole turn of %s: recorded with its labels, and undone byte for byte',
    async (agent) => {
      const scene = new HookScene(rig, agent)
      const before = scene.contents()
      await scene.work()
      expect(await scene.hook('stop')).toBe(SILENCE[agent] ?? '')
      await scene.hook('session-end')
      const log = await scene.json('log')
      expect(log).toMatchObject({ turns: [{ kind: 'agent' }] })
      expect(log.turns).toHaveLength(1)
      const manifest = await scene.json('show', 'last')
      expect(manifest).toMatchObject({
        kind: 'agent',
        session: scene.session,
        prompt: 'Write made.txt, edit kept.txt and remove gone.txt',
        endReason: 'completed',
        lateStart: false,
        lateEnd: false,
        ...TELLS[agent],
      })
      expect(sourcesOf(manifest)).toEqual({
        '.env': 'shell',
        'gone.txt': 'shell',
        'kept.txt': 'tool',
        'made.txt': 'tool',
      })
      expect(await scene.json('undo')).toMatchObject({ status: 'done', verified: true })
      expect(scene.contents()).toEqual(before)
    },
  )
})
