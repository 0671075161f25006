import { afterEach, beforeEach, expect, test } from 'vitest'
import { signBesideOthers } from '#capture/sign-turns.ts'
import { beginTurn, endTurn } from '#capture/turns.ts'
import { CaptureRig } from './support/capture-rig.ts'

/** More than are signed while one lease is held, also where that is quick. */
const MANY = 400

let rig: CaptureRig
beforeEach(async () => {
  rig = new CaptureRig('signing', false)
  rig.write('a')
  await rig.init()
})
afterEach(() => rig.dispose())

/** Closed turns that nobody signed: an agent with one short turn after the other leaves them to the next pause. */
async function closeManyTurns(): Promise<void> {
  const deps = { ...rig.deps, afterEnd: () => {} }
  await deps.leases.run(rig.workspace, 'capture', async (lease) => {
    for (let i = 0; i < MANY; i++) {
      const request = { key: null, kind: 'agent', agent: null, prompt: null, task: null } as const
      const more = { agentPid: null, lateStart: false, deadlineMs: null, session: 's' }
      await beginTurn(deps, lease, rig.workspace, { ...request, ...more })
      rig.write('a', `${i}`)
      await endTurn(deps, lease, rig.workspace, {
        session: 's',
        key: null,
        reason: 'completed',
        lastMessage: null,
      })
    }
  })
}

const countUnsigned = () => rig.deps.captureLog.listUnsigned(rig.workspace.id).length

test('who wants the tree while many turns are signed does not wait for all of them', async () => {
  await closeManyTurns()
  expect(countUnsigned()).toBe(MANY)
  const signing = signBesideOthers({ ...rig.deps }, rig.workspace)
  let left = -1
  // Asked for once the first ones are signed: so the lease is given back in between.
  while (countUnsigned() === MANY) await new Promise((done) => setImmediate(done))
  await rig.deps.leases.run(rig.workspace, 'capture', async () => {
    left = countUnsigned()
  })
  expect(left).toBeGreaterThan(0)
  await signing
  expect(countUnsigned()).toBe(0)
  const chain = rig.deps.log.listTurns(rig.workspace.id).map(({ turn }) => rig.deps.log.getManifest(turn).seq)
  expect(chain).toEqual(chain.map((_, i) => i + 1))
})
