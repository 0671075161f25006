import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { gzipSync } from 'node:zlib'
import { DomainError, type TurnId } from '@turnback/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeCheckpoint } from '#capture/checkpoint.ts'
import { gcParts } from '#cli/gc-parts.ts'
import { runCommandLine } from '#cli/run.ts'
import { collectGarbage, type GcParts, type GcResult } from '#store/gc.ts'
import { isRemoved } from '#store/gone-workspaces.ts'
import { keepReserve, releaseReserve } from '#store/reserve.ts'
import { RestoreRows } from '#store/restore-rows.ts'
import { runHere } from './support/command-here.ts'
import { openRig, type Rig } from './support/restore-rig.ts'

const DAY_MINUTES = 24 * 60

let rig: Rig
beforeEach(async () => {
  rig = await openRig()
})
afterEach(() => rig.close())

const cli = (...args: string[]) =>
  runHere({ HOME: rig.top, TURNBACK_HOME: rig.home }, rig.root, args, rig.deps)
const gc = (more: Partial<GcParts> = {}): Promise<GcResult> => collectGarbage(gcParts(rig.deps, {}, more))
const passDays = (days: number) => rig.passMinutes(days * DAY_MINUTES)
const checkpoint = () =>
  rig.deps.leases.run(rig.workspace, 'capture', (lease) =>
    makeCheckpoint(rig.deps, lease, rig.workspace, { label: null, task: null, paths: null }),
  )
const limits = (more: Partial<GcParts['limits']> = {}) => ({
  limits: { retentionDays: 14, retentionTurns: 10_000, budgetBytes: 5e9, ...more },
})

/** A turn that writes a text of its own, and how old it is when gc comes. */
const write = (path: string, text: string, session = 's1') => rig.turn(session, () => rig.put(path, text))

test('turns that are too old go with their bytes; what is left is restored as before', async () => {
  rig.put('a', 'first')
  const t1 = await write('a', 'second')
  const t2 = await write('b', 'made and never seen again')
  await rig.turn('s1', () => rmSync(join(rig.root, 'b')))
  passDays(15)
  const t4 = await write('a', 'third')
  const result = await gc()
  expect(result).toMatchObject({ turns: 3, busy: 0 })
  expect(rig.turns().map(({ turn }) => turn)).toEqual([t4])
  // "first" and what b held are gone, "second" is what the turn that is left goes back to.
  expect(result.blobs).toBe(2)
  expect((await rig.restore(t4)).restored).toEqual(['a'])
  expect(rig.read('a')).toBe('second')
  for (const turn of [t1, t2]) await expect(rig.restore(turn)).rejects.toMatchObject({ code: 'HISTORY_GAP' })
  expect(await gc()).toMatchObject({ turns: 0, blobs: 0 })
})

test('on the command line a gap is refused with exit code 3, by number, id and by undo', async () => {
  rig.put('a', '0')
  const t1 = await write('a', '1')
  passDays(20)
  const t2 = await write('a', '2')
  await gc()
  for (const args of [
    ['restore', t1],
    ['restore', '1'],
    ['preview', '@1'],
    ['show', t1],
    ['pin', '1'],
  ])
    expect(await cli(...args)).toMatchObject({ code: 3, json: { error: { code: 'HISTORY_GAP' } } })
  expect((await cli('restore', 't_nobody')).json).toMatchObject({ error: { code: 'TURN_NOT_FOUND' } })
  expect((await cli('undo')).json).toMatchObject({ status: 'done', restored: ['a'] })
  expect(rig.read('a')).toBe('1')
  // The next one back was removed, and was not undone.
  expect(await cli('undo')).toMatchObject({ code: 3, json: { error: { code: 'HISTORY_GAP' } } })
  expect((await cli('redo')).json).toMatchObject({ status: 'done' })
  expect((await cli('preview', t2, '--session')).json).toMatchObject({ error: { code: 'HISTORY_GAP' } })
})

test('a checkpoint and a pinned turn are returned to across the gap; what a person did stays', async () => {
  rig.put('a', 'a0')
  rig.put('b', 'b0')
  rig.put('gone', 'bytes that only the checkpoint knows')
  await rig.begin('s0')
  await rig.end('s0')
  const k = await checkpoint()
  await rig.turn('s1', () => {
    rig.put('a', 'a1')
    rmSync(join(rig.root, 'gone'))
    rig.put('made', 'x')
  })
  const pinned = await write('a', 'a2')
  expect((await cli('pin', pinned)).json).toMatchObject({ turn: pinned, pinned: true })
  rig.put('b', 'a person’s')
  await write('a', 'a3')
  await write('c', 'c1')
  passDays(15)
  const last = await write('a', 'a4')
  expect(await gc()).toMatchObject({ turns: 5 })
  expect(rig.turns().map(({ turn }) => turn)).toEqual([k.turn, pinned, last])
  expect((await cli('log')).json).toMatchObject({
    turns: [{ pinned: false }, { pinned: true }, { pinned: false }],
  })
  expect((await cli('show', pinned)).json).toMatchObject({
    turn: pinned,
    pinned: true,
    entries: [{ path: 'a' }],
  })
  expect((await cli('verify')).json).toMatchObject({ missing: [], corrupt: [] })

  const before = rig.snapshot()
  expect(await rig.restore(pinned)).toMatchObject({ status: 'done', restored: ['a'], deleted: ['c'] })
  expect(rig.read('a')).toBe('a1')
  await rig.redo()
  expect(rig.snapshot()).toEqual(before)
  expect(await rig.restore(k.turn)).toMatchObject({
    status: 'done',
    restored: ['a', 'gone'],
    deleted: ['c', 'made'],
  })
  expect([rig.read('a'), rig.read('b'), rig.read('gone')]).toEqual([
    'a0',
    'a person’s',
    'bytes that only the checkpoint knows',
  ])
  await rig.redo()
  expect(rig.snapshot()).toEqual(before)
  expect(await rig.restore(k.turn, { exact: true })).toMatchObject({ status: 'done' })
  expect(rig.read('b')).toBe('b0')
  expect((await cli('diff', pinned, last)).json).toMatchObject({ error: { code: 'HISTORY_GAP' } })
  // Alone out of what came after: that is not known any more.
  await expect(rig.restore(pinned, { scope: 'turn' })).rejects.toMatchObject({ code: 'HISTORY_GAP' })
})

test('a pin that is taken away lets the turn go', async () => {
  rig.put('a', '0')
  const t1 = await write('a', '1')
  const k = await checkpoint()
  await cli('pin', t1)
  passDays(15)
  await write('a', '2')
  await gc()
  expect(rig.turns().map(({ turn }) => turn)).toContain(t1)
  await cli('pin', t1, '--remove')
  await cli('pin', k.turn, '--remove')
  expect(await gc()).toMatchObject({ turns: 2 })
  expect(rig.turns()).toHaveLength(1)
  await expect(rig.restore(t1)).rejects.toMatchObject({ code: 'HISTORY_GAP' })
})

test('by number of turns and by bytes, oldest first', async () => {
  rig.put('a', '0')
  const turns: TurnId[] = []
  const noise = (n: number) => Array.from({ length: 5_000 }, (_, i) => Math.sin(i * n).toString(36)).join('')
  for (let i = 1; i <= 6; i++) {
    rig.passMinutes(1)
    turns.push(await write(`f${i}`, noise(i)))
    await rig.turn('s1', () => rmSync(join(rig.root, `f${i}`)))
  }
  rig.passMinutes(120)
  expect(await gc(limits({ retentionTurns: 8 }))).toMatchObject({ turns: 4, blobs: 2 })
  expect(rig.turns()[0]?.turn).toBe(turns[2])
  const { total } = (await cli('usage')).json as { total: { storedBytes: number } }
  const files = readdirSync(join(rig.home, 'store')).filter((name) => name === 'turnback.db')
  const size = statSync(join(rig.home, 'store', String(files[0]))).size
  const result = await gc(limits({ budgetBytes: size + total.storedBytes / 2 }))
  expect(result.turns).toBeGreaterThan(1)
  expect(rig.turns().length).toBeGreaterThan(1)
  await expect(rig.restore(turns[2] ?? 't_')).rejects.toMatchObject({ code: 'HISTORY_GAP' })
  expect(result.bytesFreed).toBeGreaterThan(result.bytes / 2)
  expect((await cli('verify')).json).toMatchObject({ missing: [], corrupt: [] })
})

test('nothing is removed that was listed in the last hour, nor while somebody captures', async () => {
  rig.put('a', '0')
  await write('b', 'forgotten soon')
  await rig.turn('s1', () => rmSync(join(rig.root, 'b')))
  await write('c', 'last')
  const only = limits({ retentionTurns: 1 })
  expect(await gc(only)).toMatchObject({ turns: 2, blobs: 0 })
  rig.passMinutes(61)
  await rig.deps.leases.run(rig.workspace, 'capture', async () => {
    expect(await gc(only)).toMatchObject({ blobs: 0 })
  })
  expect(await gc(only)).toMatchObject({ blobs: 1 })
})

test('bytes that a capture finds here, as gc would remove them, are there when it names them', async () => {
  rig.put('a', '0')
  const old = 'written by one, removed, and written again much later'
  await write('b', old)
  await rig.turn('s1', () => rmSync(join(rig.root, 'b')))
  await write('c', 'last')
  rig.passMinutes(61)
  const { blobs, leases, db } = rig.deps
  const isListed = () =>
    db.get('SELECT 1 FROM blobs WHERE id = ?', blobs.idOf(rig.workspace.id, Buffer.from(old), false)) !==
    undefined
  const capture = (meanwhile: () => Promise<unknown>) =>
    leases.run(rig.workspace, 'capture', async () => {
      blobs.put(rig.workspace.id, Buffer.from(old), false)
      await meanwhile()
      blobs.flush()
    })
  const only = limits({ retentionTurns: 1 })
  await gc({ ...only, pause: async () => true })
  await capture(() => gc(only))
  expect(isListed()).toBe(true)
  // What was found again is not condemned any more; it is from now on that it has to be found unnamed.
  expect(db.all('SELECT id FROM blobs WHERE condemned_ms IS NOT NULL')).toEqual([])

  // Without the look at who is at work, the capture would name what is not there.
  const blind = { ...leases, run: leases.run.bind(leases), findHolder: () => null, isWanted: () => false }
  await expect(capture(() => gc({ ...only, leases: blind }))).rejects.toMatchObject({
    code: 'BLOB_NOT_FOUND',
  })
})

test('a restore that is younger than two weeks can be taken back, whatever the limits say', async () => {
  rig.put('a', '0')
  const t1 = await write('a', '1')
  await write('a', '2')
  await rig.restore(t1)
  expect(rig.read('a')).toBe('0')
  await write('z', 'later')
  passDays(13)
  const tight = limits({ retentionDays: 1, retentionTurns: 1 })
  expect(await gc(tight)).toMatchObject({ turns: 0 })
  const undone = rig.turns().find(({ kind }) => kind === 'restore')?.turn ?? 't_'
  expect(await rig.restore(undone)).toMatchObject({ status: 'done', restored: ['a'] })
  expect(rig.read('a')).toBe('2')
})

test('an open turn, and turns that are still to be sent, stay', async () => {
  rig.put('a', '0')
  await write('a', '1')
  await rig.begin('open')
  await write('a', '2')
  await write('a', '3')
  passDays(30)
  expect(await gc()).toMatchObject({ turns: 1 })
  await rig.end('open')
  await write('a', '4')
  passDays(15)
  await write('a', '5')
  expect(await gc({ isLoggedIn: true })).toMatchObject({ turns: 0 })
  for (const { turn } of rig.turns()) rig.deps.log.markPushed(turn, new Date().toISOString())
  expect(await gc({ isLoggedIn: true })).toMatchObject({ turns: 4 })
})

test('a dry run says exactly what a run does, and does nothing', async () => {
  const env = { HOME: rig.top, TURNBACK_HOME: rig.home }
  rig.put('a', '0')
  for (let i = 1; i <= 4; i++) await write('a', `text ${i}`)
  await checkpoint()
  passDays(15)
  await write('a', 'last')
  writeFileSync(join(rig.home, 'config.json'), JSON.stringify({ retentionTurns: 1 }))
  const before = rig.turns()
  rig.deps.db.transact(() => rig.deps.db.run('UPDATE blobs SET listed_ms = 0'))
  const dry = await runHere(env, rig.root, ['gc', '--dry-run'])
  expect(dry).toMatchObject({ code: 0, json: { dryRun: true, turns: 4 } })
  expect(rig.turns()).toEqual(before)
  expect(readdirSync(join(rig.home, 'store', 'tmp'))).toEqual([])
  const { turns, blobs, bytes } = dry.json
  expect((await runHere(env, rig.root, ['gc'])).json).toMatchObject({
    dryRun: false,
    turns,
    blobs,
    bytes,
  })
  expect(Number(blobs)).toBeGreaterThan(0)
  writeFileSync(join(rig.home, 'config.json'), JSON.stringify({ retentionDays: 'two' }))
  expect(await runHere(env, rig.root, ['gc'])).toMatchObject({
    code: 2,
    json: { error: { code: 'CONFIG_INVALID', details: { field: 'retentionDays' } } },
  })
})

test('a store that stays over its budget says what keeps it so', async () => {
  rig.put('a', '0')
  const t1 = await write('a', '1')
  await write('a', '2')
  expect(await gc(limits({ budgetBytes: 1e9 }))).toMatchObject({ overBudget: null })
  const keptBy = async (more: Partial<GcParts> = {}) => {
    const { overBudget } = await gc({ ...limits({ budgetBytes: 1 }), ...more })
    expect(overBudget).toMatchObject({
      budgetBytes: 1,
      bytes: expect.any(Number),
      unusedBytes: expect.any(Number),
    })
    return overBudget?.workspaces
  }
  await cli('pin', t1)
  const here = { workspace: rig.workspace.id, root: rig.root }
  expect(await keptBy({ isLoggedIn: true })).toEqual([
    { ...here, turns: 2, keptBy: ['unsentTurns'], pinned: 1 },
  ])
  await cli('undo')
  await write('b', '3')
  const turns = rig.turns().length
  expect(await keptBy()).toEqual([{ ...here, turns, keptBy: ['youngRestores'], pinned: 1 }])
  passDays(15)
  await write('a', '9')
  expect(await keptBy()).toEqual([{ ...here, turns: 2, keptBy: ['newestTurns'], pinned: 1 }])

  writeFileSync(join(rig.home, 'config.json'), JSON.stringify({ diskBudgetBytes: 1 }))
  let words = ''
  const streams = { out: (text: unknown) => (words += String(text)), talk() {}, readStdin: async () => '' }
  const env = { HOME: rig.top, TURNBACK_HOME: rig.home }
  const caller = { env, folder: rig.root, pid: process.pid, isPerson: false }
  expect(await runCommandLine(['gc'], caller, streams)).toBe(0)
  expect(words).toContain(`${rig.root}, 2 turns, kept by`)
  expect(words).toContain('its newest turn, and the files as they are now')
  expect(words).toContain('1 pinned turns and checkpoints: `turnback pin TURN --remove`')
  expect(words).toContain('diskBudgetBytes in config.json allows more')
})

test('a workspace is forgotten when its folder was removed long ago, not when its disk is not there', async () => {
  rig.put('a', '0')
  await write('a', '1')
  const count = () => rig.deps.log.listWorkspaces().length
  const away = join(rig.top, 'away')
  const { device, inode } = rig.workspace
  const unplugged = { root: join(rig.top, 'disk', 'w'), device, inode }
  expect(isRemoved(unplugged)).toBe(false)
  expect(isRemoved({ ...unplugged, root: join(rig.top, 'w2') })).toBe(true)
  expect(isRemoved({ ...unplugged, root: join(rig.top, 'w2'), device: 'another' })).toBe(false)
  renameSync(rig.root, away)
  await gc()
  passDays(13)
  await gc()
  expect(count()).toBe(1)
  passDays(2)
  expect(await gc({ isLoggedIn: true })).toMatchObject({ workspaces: 0 })
  // Back again: as if nothing had been.
  renameSync(away, rig.root)
  await gc()
  expect(rig.read('a')).toBe('1')
  renameSync(rig.root, away)
  await gc()
  passDays(15)
  expect(await gc()).toMatchObject({ workspaces: 1, turns: 1 })
  expect(count()).toBe(0)
  passDays(1)
  await gc()
  expect(rig.deps.db.all('SELECT id FROM blobs')).toEqual([])
  mkdirSync(rig.root)
})

test('restores are listed whole while gc of another process removes them', async () => {
  rig.put('a', '1')
  await write('a', '2')
  const { turn } = await rig.undo()
  const { db } = rig.deps
  const other = new DatabaseSync(join(rig.home, 'store/turnback.db'))
  const all = db.all.bind(db)
  const meddled = Object.assign(db, {
    all: (...words: Parameters<typeof all>) => {
      const rows = all(...words)
      other.exec('DELETE FROM restores')
      return rows
    },
  })
  expect(new RestoreRows(meddled).list(rig.workspace.id).map((row) => row.turn)).toEqual([turn])
  expect(new RestoreRows(meddled).list(rig.workspace.id)).toEqual([])
  other.close()
})

test('on a disk that fills up on the way, gc says how much it had removed by then', async () => {
  for (const text of ['1', '2', '3', '4']) await write('a', text)
  passDays(15)
  await write('a', 'last')
  const { leases } = rig.deps
  let steps = 0
  const full: typeof leases = {
    findHolder: (workspace) => leases.findHolder(workspace),
    isWanted: () => false,
    run: async (workspace, purpose, work, waitSeconds) => {
      steps++
      if (steps > 1) throw new DomainError('STORE_FULL')
      return leases.run(workspace, purpose, work, waitSeconds)
    },
  }
  const before = rig.turns().length
  const store = join(rig.home, 'store')
  keepReserve(store)
  // The first step is done, and then neither the second one nor another try with the reserve has room.
  await expect(gc({ leases: full, changesAtOnce: 1 })).rejects.toMatchObject({
    code: 'STORE_FULL',
    message: expect.stringContaining('; one turn could be removed.'),
  })
  expect(rig.turns().length).toBe(before - 1)
  expect(releaseReserve(store), 'it was given up').toBe(false)
  steps = 0
  const half: typeof leases = {
    ...full,
    run: (workspace, purpose, work, waitSeconds) =>
      steps++ === 1
        ? Promise.reject(new DomainError('STORE_FULL'))
        : leases.run(workspace, purpose, work, waitSeconds),
  }
  keepReserve(store)
  expect(await gc({ leases: half, changesAtOnce: 1 }), 'both tries are counted').toMatchObject({ turns: 3 })
})

test('what is kept for gc holds its room on a file system that compresses', () => {
  const store = join(rig.home, 'store')
  releaseReserve(store)
  keepReserve(store)
  const bytes = readFileSync(join(store, 'reserve'))
  expect(gzipSync(bytes).length).toBeGreaterThanOrEqual(bytes.length)
})
