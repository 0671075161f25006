import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeId, type ServerMessage } from '@turnback/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createRemoteRestores } from '#restore/remote.ts'
import { Commands } from '#sync/commands.ts'
import { makeMachine } from './support/machine.ts'

let machine: Awaited<ReturnType<typeof makeMachine>>
beforeEach(async () => {
  machine = await makeMachine((root) => writeFileSync(join(root, 'a'), 'a0'))
})
afterEach(() => machine.close())

const message = (part: Partial<Extract<ServerMessage, { type: 'checkpoint.request' }>> = {}) =>
  ({
    type: 'checkpoint.request',
    id: makeId('c', Date.now(), machine.deps.random(10)),
    workspace: machine.workspace.id,
    label: 'before the job',
    task: 'build-7',
    ...part,
  }) as const

test('a checkpoint that the service asks for is made once, however often it is asked', async () => {
  const { deps, workspace } = machine
  const notes: string[] = []
  let pushes = 0
  const commands = new Commands({
    deps,
    restores: createRemoteRestores(deps),
    note: (event) => notes.push(event),
    wakePush: () => pushes++,
  })
  let acknowledged = 0
  const handle = (each: ServerMessage) => commands.handle(each, () => acknowledged++)
  writeFileSync(join(machine.root, 'a'), 'a1')

  const first = message()
  await handle(first)
  await handle(first)
  await handle(message({ workspace: makeId('w', 1, new Uint8Array(10)) }))
  expect(acknowledged).toBe(3)
  expect([notes, pushes]).toEqual([['checkpoint-made', 'checkpoint-refused'], 1])
  const made = deps.log.listTurns(workspace.id).filter(({ kind }) => kind === 'checkpoint')
  expect(made).toMatchObject([{ label: 'before the job', task: 'build-7', paths: null }])

  await handle(message())
  expect(deps.log.listTurns(workspace.id).filter(({ kind }) => kind === 'checkpoint')).toHaveLength(2)
})

test('one that cannot be made is not acknowledged, so it is asked again', async () => {
  const { deps, workspace } = machine
  const commands = new Commands({
    deps: {
      ...deps,
      capture: { ...deps.capture, makeCheckpoint: () => Promise.reject(new Error('no room')) },
    },
    restores: createRemoteRestores(deps),
    note: () => undefined,
    wakePush: () => undefined,
  })
  let acknowledged = 0
  await expect(commands.handle(message(), () => acknowledged++)).rejects.toThrow('no room')
  expect(acknowledged).toBe(0)
  expect(deps.log.listTurns(workspace.id)).toEqual([])
})
