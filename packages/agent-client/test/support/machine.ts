import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeId, type TurnId } from '@turnback/core'
import { firstCapture, registerWorkspace } from '#capture/register.ts'
import { beginTurn, endTurn } from '#capture/turns.ts'
import { openDeps } from '#deps.ts'
import type { Workspace } from '#ports.ts'

/** A machine with a home of its own and a real folder under watch; its clock can be turned forward. */
export async function makeMachine(fill: (root: string) => void = () => undefined) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'turnback-machine-')))
  const root = join(folder, 'project')
  mkdirSync(root)
  const env = { HOME: folder, TURNBACK_HOME: join(folder, 'home') }
  let aheadMs = 0
  const clock = { nowMs: () => Date.now() + aheadMs }
  const deps = openDeps(env, { clock })
  fill(root)
  const { dev, ino } = statSync(root, { bigint: true })
  const place = { root, device: String(dev), inode: String(ino), name: 'project' }
  const workspace: Workspace = registerWorkspace(deps, place, null)
  await firstCapture(deps, workspace, true)

  async function begin(session = 's1'): Promise<TurnId> {
    const begun = await deps.leases.run(workspace, 'capture', (lease) =>
      beginTurn(deps, lease, workspace, {
        session,
        key: null,
        kind: 'agent',
        agent: null,
        prompt: null,
        task: null,
        agentPid: null,
        lateStart: false,
        deadlineMs: null,
      }),
    )
    return begun.turn
  }

  /** A whole turn of an agent that does `work`. */
  async function turn(work: () => void, session = 's1'): Promise<TurnId> {
    const begun = await begin(session)
    work()
    await deps.leases.run(workspace, 'capture', (lease) =>
      endTurn(deps, lease, workspace, { session, key: null, reason: 'completed', lastMessage: null }),
    )
    return begun
  }

  return {
    folder,
    root,
    env,
    deps,
    workspace,
    begin,
    turn,
    newId: <P extends 'r' | 'c' | 't' | 'w'>(prefix: P) => makeId(prefix, clock.nowMs(), randomBytes(10)),
    letTimePass(ms: number) {
      aheadMs += ms
    },
    close() {
      deps.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export type TestMachine = Awaited<ReturnType<typeof makeMachine>>
