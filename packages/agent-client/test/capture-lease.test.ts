import { spawnSync } from 'node:child_process'
import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { DomainError, type RelPath } from '@turnback/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { registerWorkspace } from '#capture/register.ts'
import { RowLeases } from '#store/leases.ts'
import { nameThisProcess, thisSpace, uptimeMs } from '#store/process.ts'
import { CaptureRig } from './support/capture-rig.ts'
import { attachRig, openRig } from './support/restore-rig.ts'

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))

let rig: CaptureRig
beforeEach(async () => {
  rig = new CaptureRig('lease')
  await rig.init()
})
afterEach(() => rig.dispose())

/** A promise and what settles it. */
function gate() {
  return Promise.withResolvers<void>()
}

test('two works in one workspace never run at once, in one process', async () => {
  let running = 0
  let most = 0
  const work = async () => {
    most = Math.max(most, ++running)
    await new Promise((done) => setImmediate(done))
    running--
  }
  await Promise.all([1, 2, 3, 4].map(() => rig.deps.leases.run(rig.workspace, 'capture', work)))
  expect(most).toBe(1)
})

test('another process is refused while this one holds the lease, and told by what', async () => {
  const { promise, resolve } = gate()
  const held = rig.deps.leases.run(rig.workspace, 'restore', () => promise)
  expect(rig.deps.leases.findHolder(rig.workspace)).toEqual({ pid: process.pid, purpose: 'restore' })
  const refused = rig.deps.leases.run(rig.workspace, 'capture', async () => 'ran', 0)
  await expect(refused).rejects.toMatchObject({ code: 'RESTORE_RUNNING' })
  const other = rig.run(['begin', '--session', 'x', '--json'])
  expect(other).toMatchObject({ code: 3, json: { error: { code: 'RESTORE_RUNNING' } } })
  resolve()
  await held
  expect(rig.deps.leases.findHolder(rig.workspace)).toBeNull()
  expect(rig.run(['begin', '--session', 'x', '--json']).code).toBe(0)
})

test('the lease of a process that is gone, or of an earlier one with the same number, counts for nothing', async () => {
  const plant = (pid: number, started: string) => {
    const db = new DatabaseSync(join(rig.top, 'home', 'store', 'turnback.db'))
    db.prepare(
      'INSERT OR REPLACE INTO leases(workspace, pid, started, boot, purpose) VALUES (?, ?, ?, ?, ?)',
    ).run(rig.workspace.id, pid, started, 'an earlier boot', 'capture')
    db.close()
  }
  for (const pid of [999_999_999, process.ppid]) {
    plant(pid, '1')
    expect(await rig.deps.leases.run(rig.workspace, 'capture', async () => 'ran', 0)).toBe('ran')
  }
})

test.skipIf(thisSpace() === '')(
  'the holder of a lease in a container, whose number says nothing here, is there as long as it says so',
  async () => {
    const { boot } = nameThisProcess()
    const plant = (space: string, seenMs: number) => {
      const db = new DatabaseSync(join(rig.top, 'home', 'store', 'turnback.db'))
      const row = [rig.workspace.id, 999_999_999, '1', boot, 'restore', space, seenMs]
      db.prepare('INSERT OR REPLACE INTO leases VALUES (?, ?, ?, ?, ?, ?, ?)').run(...row)
      db.close()
    }
    const run = () => rig.deps.leases.run(rig.workspace, 'capture', async () => 'ran', 0)
    plant('1', uptimeMs() - 60_000)
    await expect(run()).rejects.toMatchObject({ code: 'RESTORE_RUNNING' })
    // Neither a clock that jumps nor a machine that sleeps makes it older.
    rig.aheadMs += 3_600_000
    await expect(run()).rejects.toMatchObject({ code: 'RESTORE_RUNNING' })
    plant('1', uptimeMs() - 3_600_000)
    expect(await run()).toBe('ran')
    // In this namespace the number says it all.
    plant(thisSpace(), uptimeMs())
    expect(await run()).toBe('ran')
  },
)

test('a holder that was stopped for long says so to others again, or learns that it is none any more', async () => {
  const uptime = { ms: 1_000_000 }
  const { db, log } = rig.deps
  const leases = new RowLeases(
    db,
    () => log.listWorkspaces(),
    () => uptime.ms,
  )
  const seen = () => Number(db.get('SELECT seen_ms FROM leases')?.seen_ms)
  await leases.run(rig.workspace, 'restore', async (lease) => {
    lease.check()
    expect(seen()).toBe(1_000_000)
    uptime.ms += 400_000
    lease.check()
    expect(seen()).toBe(1_400_000)
    db.run(`UPDATE leases SET pid = 1, started = '1', space = '1', seen_ms = ?`, uptime.ms)
    uptime.ms += 660_000
    expect(() => lease.check()).toThrow(expect.objectContaining({ code: 'LEASE_LOST' }))
    // The other one is done.
    db.run('DELETE FROM leases')
    expect(() => lease.check()).toThrow(expect.objectContaining({ code: 'LEASE_LOST' }))
  })
})

test.skipIf(!canUnshare())(
  'a process in another PID namespace is kept out by a lease, and keeps others out',
  async () => {
    const inside = (...args: string[]) => {
      const words = ['--pid', '--fork', '--mount-proc', process.execPath, MAIN, ...args, '--json']
      const { stdout } = spawnSync('unshare', words, { cwd: rig.root, env: rig.env, encoding: 'utf8' })
      return JSON.parse(stdout)
    }
    rig.write('a', 'x')
    expect(inside('begin', '--session', 'in')).toMatchObject({ session: 'in' })
    const { promise, resolve } = gate()
    const held = rig.deps.leases.run(rig.workspace, 'restore', () => promise)
    expect(inside('begin', '--session', 'in2')).toMatchObject({ error: { code: 'RESTORE_RUNNING' } })
    resolve()
    await held
    expect(inside('end', '--session', 'in')).toMatchObject({ number: 2 })
  },
  60_000,
)

function canUnshare(): boolean {
  return spawnSync('unshare', ['--pid', '--fork', '--mount-proc', 'true']).status === 0
}

test('a nested workspace shares the lease of the outer one', async () => {
  const root = rig.at('inner')
  mkdirSync(root)
  const { dev, ino } = statSync(root, { bigint: true })
  const place = { root, device: String(dev), inode: String(ino), name: 'inner' }
  const inner = registerWorkspace(rig.deps, place, null)
  const { promise, resolve } = gate()
  const held = rig.deps.leases.run(inner, 'capture', () => promise)
  const refused = rig.deps.leases.run(rig.workspace, 'capture', async () => 'ran', 0)
  await expect(refused).rejects.toMatchObject({ code: 'STORE_LOCKED' })
  resolve()
  await held
})

test('a look that lost its lease on the way is not recorded', async () => {
  const { deps, workspace } = rig
  const looked = () =>
    deps.leases.run(workspace, 'capture', (lease) => {
      const check = () => {
        throw new DomainError('LEASE_LOST')
      }
      return deps.capture.scan({ ...lease, check }, workspace)
    })
  rig.write('a', 'x')
  await expect(looked()).rejects.toMatchObject({ code: 'LEASE_LOST' })
  expect(deps.log.listTurns(workspace.id)).toEqual([])
})

test('a restore that lost its lease on the way is not recorded, and stays to be finished', async () => {
  const first = await openRig()
  first.put('a', 'before')
  const turn = await first.turn('A', () => first.put('a', 'after'))
  first.deps.close()
  let [isLost, losesIt] = [false, true]
  const restores = await attachRig(first.top, (deps) => ({
    ...deps,
    leases: {
      isWanted: () => false,
      findHolder: (workspace) => deps.leases.findHolder(workspace),
      run: (workspace, purpose, work, waitSeconds) => {
        const check = () => {
          if (isLost) throw new DomainError('LEASE_LOST')
        }
        return deps.leases.run(workspace, purpose, (lease) => work({ ...lease, check }), waitSeconds)
      },
    },
    writer: (...words) => {
      const writer = deps.writer(...words)
      const sync = writer.sync.bind(writer)
      const syncAndLose = async (folders: readonly RelPath[], files: readonly RelPath[]) => {
        const notSynced = await sync(folders, files)
        isLost = losesIt
        return notSynced
      }
      return Object.assign(writer, { sync: syncAndLose })
    },
  }))
  try {
    await expect(restores.restore(turn)).rejects.toMatchObject({ code: 'LEASE_LOST' })
    expect(restores.turns().map(({ kind }) => kind)).not.toContain('restore')
    isLost = losesIt = false
    expect(await restores.restore(turn)).toMatchObject({ status: 'done', recovered: true })
    expect(restores.read('a')).toBe('before')
  } finally {
    restores.close()
  }
})
