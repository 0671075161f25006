import { DomainError, type TurnId } from '@turnback/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { nextSteps } from '#cli/next-steps.ts'
import { runCommandLine } from '#cli/run.ts'
import type { ClientDeps } from '#deps.ts'
import { recover } from '#restore/recover.ts'
import { createTreeWriter } from '#worktree/tree-writer.ts'
import { attachRig, openRig, type Rig } from './support/restore-rig.ts'

let rig: Rig
beforeEach(async () => {
  rig = await openRig()
})
afterEach(() => rig.close())

/** A restore of two files that was cut off after the last of them was written. */
async function cutOff(): Promise<TurnId> {
  for (const path of ['a.txt', 'b.txt']) rig.put(path, 'v1')
  const turn = await rig.turn('A', () => {
    for (const path of ['a.txt', 'b.txt']) rig.put(path, 'agent')
  })
  const full = await attachRig(rig.top, (deps) => ({
    ...deps,
    capture: {
      ...deps.capture,
      recordRestore() {
        throw new DomainError('STORE_FULL')
      },
    },
  }))
  expect(await full.restore(turn)).toMatchObject({ status: 'partly-done', error: { code: 'STORE_FULL' } })
  full.deps.close()
  expect([rig.read('a.txt'), rig.read('b.txt')]).toEqual(['v1', 'v1'])
  return turn
}

/** A client that may not write one path. */
function without(path: string): Promise<Rig> {
  const denied = Object.assign(new Error('EPERM: not permitted'), { code: 'EPERM', syscall: 'open' })
  return attachRig(rig.top, (deps: ClientDeps) => ({
    ...deps,
    writer: (workspace, restore) =>
      createTreeWriter({
        ...{ workspace, restore, blobs: deps.blobs, random: deps.random },
        onMoment: (_, at) => {
          if (at === path) throw denied
        },
      }),
  }))
}

async function say(...args: string[]): Promise<string> {
  let text = ''
  const take = (part: string | Uint8Array): void => {
    text += Buffer.from(part).toString('utf8')
  }
  const caller = { env: { TURNBACK_HOME: rig.home }, folder: rig.root, pid: process.pid, isPerson: false }
  await runCommandLine(args, caller, { out: take, talk: take, readStdin: async () => '' }, null)
  return text
}

test('rolled back around what a person edited: that is said of the other files only', async () => {
  await cutOff()
  rig.put('b.txt', 'mine')
  const text = await say('recover', '--abort')
  expect(text).toContain('b.txt')
  expect(text).toContain('Every other file is as it was before that restore.')
  expect([rig.read('a.txt'), rig.read('b.txt')]).toEqual(['agent', 'mine'])
  await cutOff()
  expect(await say('recover', '--abort')).toContain('Every file is as it was before that restore.')
})

test('a file that could not be rolled back can be by the same command, and stops no other restore', async () => {
  const turn = await cutOff()
  const troubled = await without('b.txt')
  const first = await recover(troubled.deps, rig.workspace, 'abort')
  expect(first).toMatchObject({ status: 'partly-done', failed: [{ path: 'b.txt' }] })
  expect(nextSteps(rig.deps.log, first, { command: 'abort', scope: [], session: null })).toEqual([
    'When what stood in the way is gone, the same command again does the rest.',
  ])
  // Whoever wants something else now gets it, as far as it goes.
  expect(await troubled.undo()).toMatchObject({ recovered: false, of: [turn], restored: ['a.txt'] })
  troubled.deps.close()
  expect(rig.deps.log.findJournal(rig.workspace.id)).toBeNull()

  await cutOff()
  const again = await without('b.txt')
  await recover(again.deps, rig.workspace, 'abort')
  again.deps.close()
  expect([rig.read('a.txt'), rig.read('b.txt')]).toEqual(['agent', 'v1'])
  expect(await say('recover', '--abort')).toContain('Every file is as it was before that restore.')
  expect([rig.read('a.txt'), rig.read('b.txt')]).toEqual(['agent', 'agent'])
  expect(rig.deps.log.findJournal(rig.workspace.id)).toBeNull()
})

test('what a recovery could not finish is had by the restore itself, which is named', async () => {
  const turn = await cutOff()
  rig.put('b.txt', 'agent')
  const troubled = await without('b.txt')
  const report = await recover(troubled.deps, rig.workspace, 'finish')
  troubled.deps.close()
  expect(report).toMatchObject({ status: 'partly-done', failed: [{ path: 'b.txt' }] })
  const [step] = nextSteps(rig.deps.log, report, { command: 'recover', scope: [], session: null })
  expect(step).toBe('When what stood in the way is gone, `turnback restore @1` does the rest.')
  expect(await rig.restore(turn)).toMatchObject({ status: 'done', restored: ['b.txt'] })
})
