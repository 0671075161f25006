import { utimesSync } from 'node:fs'
import type { TurnId } from '@turnback/core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { AgentName } from '#adapters/adapter.ts'
import { HookDesk } from './support/hook-desk.ts'

let desk: HookDesk

beforeEach(() => {
  desk = new HookDesk('esc')
  desk.write('kept.txt', 'one\n')
})
afterEach(() => desk.dispose())

type Lines = (atMs: number) => object[]

/** What an agent writes down when its person breaks it off. */
const BROKEN_OFF: Readonly<Partial<Record<AgentName, Lines>>> = {
  'claude-code': (atMs) => [
    { type: 'assistant', message: { role: 'assistant', content: [{ type: 'tool_use', name: 'Bash' }] } },
    {
      type: 'user',
      message: {
        role: 'user',
        content: [{ type: 'text', text: '[Request interrupted by user for tool use]' }],
      },
      timestamp: new Date(atMs).toISOString(),
    },
    { type: 'file-history-snapshot', messageId: 'm', snapshot: {} },
  ],
  codex: (atMs) => [
    { timestamp: '2026-11-30T10:00:00Z', type: 'session_meta', payload: { cli_version: '0.171.0' } },
    {
      timestamp: new Date(atMs).toISOString(),
      type: 'event_msg',
      payload: { type: 'turn_aborted', reason: 'interrupted' },
    },
    { timestamp: new Date(atMs).toISOString(), type: 'event_msg', payload: { type: 'token_count' } },
  ],
}

/** What it writes when work goes on after that. */
const GOES_ON: Readonly<Partial<Record<AgentName, object>>> = {
  'claude-code': { type: 'user', message: { role: 'user', content: 'go on then' } },
  codex: { type: 'event_msg', payload: { type: 'task_started' } },
}

const field: Readonly<Partial<Record<AgentName, string>>> = {
  'claude-code': 'transcript_path',
  codex: 'transcript_path',
}

async function workOn(agent: AgentName): Promise<TurnId> {
  const told = { [field[agent] ?? '']: desk.transcript([]) }
  await desk.hook(agent, 'prompt', told)
  await desk.hook(agent, 'shell-before', told)
  const [turn] = desk.turns()
  if (turn === undefined) throw new Error('no turn')
  return turn.turn
}

const workspaceOf = () => {
  const [workspace] = desk.deps.log.listWorkspaces()
  if (workspace === undefined) throw new Error('no workspace')
  return workspace
}

describe.each(['claude-code', 'codex'] as const)('%s', (agent) => {
  const lines = (atMs: number) => BROKEN_OFF[agent]?.(atMs) ?? []

  test('Esc in the middle of a command: `undo` does not wait, and the turn was interrupted', async () => {
    const turn = await workOn(agent)
    desk.write('kept.txt', 'two\n')
    expect(desk.deps.capture.findBusy(workspaceOf(), null), 'a tool is in flight').toBe(turn)
    desk.transcript(lines(Date.now()))
    expect(desk.deps.capture.findBusy(workspaceOf(), null)).toBeNull()
    expect(await desk.json('undo')).toMatchObject({ status: 'done', restored: ['kept.txt'] })
    expect(desk.turns()[0]).toMatchObject({ endReason: 'interrupted', isOpen: false })
    expect(await desk.json('show', turn)).toMatchObject({ endReason: 'interrupted', lateEnd: true })
  })

  test('who looks after turns closes it, and what a person changes since is nobody’s of it', async () => {
    // The turn was long ago, by the client's clock.
    desk.aheadMs = -60_000
    await workOn(agent)
    desk.write('made.txt', 'by the command\n')
    const then = new Date(Date.now() - 60_000)
    utimesSync(desk.at('made.txt'), then, then)
    desk.transcript(lines(Date.now() - 60_000))
    desk.aheadMs = 0
    desk.write('kept.txt', 'by a person, after Esc\n')
    const workspace = workspaceOf()
    expect(desk.deps.capture.listLeftBehind(workspace)).toHaveLength(1)
    expect(await desk.deps.capture.lookAfter(workspace)).toHaveLength(1)
    const manifest = await desk.lastManifest()
    expect(manifest.endReason).toBe('interrupted')
    expect(manifest.entries.map(({ path }) => path)).not.toContain('kept.txt')
  })

  test('the next prompt says of the turn before that it was interrupted', async () => {
    await workOn(agent)
    desk.transcript(lines(Date.now()))
    await desk.hook(agent, 'prompt', { prompt_id: 'next', turn_id: 'next' })
    expect(desk.turns().map(({ endReason }) => endReason)).toEqual(['interrupted', null])
  })

  test('so does the end of the session', async () => {
    await workOn(agent)
    desk.transcript(lines(Date.now()))
    await desk.hook(agent, 'session-end')
    expect(desk.turns()[0]).toMatchObject({ endReason: 'interrupted' })
  })

  test.each([
    ['an interruption before the turn', () => lines(Date.now() - 3_600_000)],
    ['one after which work went on', () => [...lines(Date.now()), GOES_ON[agent] ?? {}]],
    ['nothing', () => []],
  ])('%s is none', async (_, text) => {
    const turn = await workOn(agent)
    desk.transcript(text())
    expect(desk.deps.capture.findBusy(workspaceOf(), null)).toBe(turn)
    expect(desk.turns()[0]).toMatchObject({ interruptedMs: null })
  })
})
