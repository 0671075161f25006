import { statSync, symlinkSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { DomainError, type TurnId } from '@turnback/core'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { lookAtTree } from '#capture/look.ts'
import { beginTurnWithin } from '#capture/turns.ts'
import { listNamedPaths } from '#cli/paths.ts'
import type { Lease } from '#ports.ts'
import { CaptureRig, entryOf, outline } from './support/capture-rig.ts'

let rig: CaptureRig
beforeEach(async () => {
  rig = new CaptureRig('coverage')
  for (const name of ['a', 'b', 'c', 'src/d']) rig.write(name, `${name}0`)
  await rig.init()
})
afterEach(() => rig.dispose())

const turns = () => rig.deps.log.listTurns(rig.workspace.id)
const row = (turn: TurnId) => rig.deps.log.findTurn(turn)
const sources = async (turn: TurnId) =>
  (await rig.manifest(turn)).entries.map(({ path, source }) => `${path} ${source}`)
const outside = () =>
  turns()
    .filter(({ kind }) => kind === 'outside')
    .flatMap(({ turn }) => rig.deps.log.getManifest(turn).entries.map(({ path }) => path))

async function pass(): Promise<void> {
  const now = Date.now()
  await vi.waitFor(() => expect(Date.now()).toBeGreaterThan(now + 30), { interval: 5 })
}

/** Files as young as the look that saw them are read again by the next; after this one none are. */
async function settle(): Promise<void> {
  await vi.waitFor(() => expect(Date.now() - statSync(rig.at('src/d')).ctimeMs).toBeGreaterThan(100))
  await rig.turn(() => undefined)
}

/** Another one has the tree until the given work is done. */
async function whileHeld<T>(work: () => Promise<T>): Promise<T> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const taken = Promise.withResolvers<void>()
  const holding = rig.deps.leases.run(rig.workspace, 'capture', () => {
    taken.resolve()
    return promise
  })
  await taken.promise
  try {
    return await work()
  } finally {
    resolve()
    await holding
  }
}

const beginWithin = (seconds: number, key: string | null = 'k') => {
  const request = { session: 's1', key, kind: 'agent', agent: null, prompt: null, task: null } as const
  const manner = { agentPid: null, lateStart: false }
  return beginTurnWithin(rig.deps, rig.workspace, { ...request, ...manner }, seconds)
}

describe('coverage', () => {
  test('counts changes by source, what was left out by reason, and what can not be given back', async () => {
    const turn = await rig.begin({ key: 'k' })
    await rig.event({ type: 'tool.after', key: 'k', tool: 'Edit', paths: ['a'] })
    rig.write('a', 'edited')
    await rig.event({ type: 'tool.before', key: 'k', tool: 'Bash', command: 'make' })
    rig.write('b', 'made')
    rig.write('c', 'made')
    symlinkSync('a', rig.at('link'))
    await rig.end('s1', 'k')
    const { coverage } = await rig.manifest(turn)
    expect(coverage).toMatchObject({
      complete: true,
      changes: { tool: 1, shell: 3, unknown: 0, shared: 0, outside: 0 },
      skipped: {},
      notRestorable: [],
    })
  })

  test('a turn that was seen late names what had changed before', async () => {
    rig.write('a', 'before anybody looked')
    rig.write('new', 'too')
    const turn = await rig.event({ type: 'tool.after', key: 'k', tool: 'Bash', command: 'make' })
    rig.write('b', 'in the turn')
    await rig.end('s1', 'k')
    const manifest = await rig.manifest(turn as TurnId)
    expect(manifest.lateStart).toBe(true)
    expect(outline(manifest)).toEqual(['b: file → file'])
    expect(manifest.coverage.notRestorable).toEqual([
      { reason: 'changed-before-start', count: 2, paths: ['a', 'new'] },
    ])
    const again = await rig.begin({ key: 'k2' })
    await rig.end()
    expect((await rig.manifest(again)).coverage.notRestorable, 'only of the turn that it befell').toEqual([])
  })

  test('a turn that ran out of time names what it did not read, at its beginning and at its end', async () => {
    await settle()
    rig.write('a', 'changed before')
    const begun = await beginWithin(0)
    expect(begun).toMatchObject({ partial: true, lateStart: false })
    expect(begun.notRestorable).toEqual([{ reason: 'budget', count: 1, paths: ['a'] }])
    await rig.end('s1', 'k')
    const { coverage } = await rig.manifest(begun.turn)
    expect(coverage).toMatchObject({ complete: false, notRestorable: begun.notRestorable })
  })

  test('begin says it on the command line', async () => {
    const { json } = rig.run(['begin', '--session', 's1', '--within', '10', '--json'])
    expect(json).toMatchObject({ partial: false, lateStart: false, notRestorable: [] })
    expect(rig.run(['begin', '--session', 's1', '--within', 'soon', '--json']).code).toBe(2)
  })
})

describe('a begin that could not look', () => {
  test('is recorded all the same, and says what it does not know', async () => {
    await settle()
    rig.write('a', 'by a person')
    await pass()
    const begun = await whileHeld(() => beginWithin(0.05))
    expect(begun).toMatchObject({ partial: true, lateStart: true, statted: 0 })
    expect(row(begun.turn)).toMatchObject({ isOpen: true, isUnseen: true })
    await pass()
    rig.write('b', 'by the agent')
    rig.write('new', 'by the agent')
    await rig.end('s1', 'k')
    const manifest = await rig.manifest(begun.turn)
    // A person may have written b before the turn, when nobody looked: what was there is not known.
    expect(outline(manifest)).toEqual(['b: budget → file', 'new: budget → file'])
    expect(manifest.coverage).toMatchObject({
      complete: false,
      reason: 'the tree was in use by somebody else and was not looked at when the turn began',
      notRestorable: [{ reason: 'budget', count: 2, paths: ['b', 'new'] }],
    })
    expect(outside(), 'its time tells that it was before').toEqual(['a'])
  })

  test('neither is a walk waited for that does not come to its end', async () => {
    await settle()
    rig.write('a', 'by a person')
    const { clock } = rig.deps
    let now = Date.now()
    const slow = vi.spyOn(clock, 'nowMs').mockImplementation(() => {
      now += 1000
      return now
    })
    const begun = await beginWithin(1)
    slow.mockRestore()
    expect(begun).toMatchObject({ partial: true, lateStart: true, statted: 0 })
    expect(row(begun.turn)).toMatchObject({ isOpen: true, isUnseen: true })
    expect(outside(), 'nothing of the look was kept').toEqual([])
  })

  test('the look is made up for before the first tool', async () => {
    await settle()
    rig.write('a', 'by a person')
    const { turn } = await whileHeld(() => beginWithin(0.05))
    await pass()
    await rig.event({ type: 'tool.before', key: 'k', tool: 'Edit', paths: ['b'] })
    expect(row(turn)).toMatchObject({ isUnseen: false })
    rig.write('b', 'by the agent')
    await rig.event({ type: 'tool.after', key: 'k', tool: 'Edit', paths: ['b'] })
    await rig.end('s1', 'k')
    const manifest = await rig.manifest(turn)
    expect(rig.read(entryOf(manifest, 'b'), 'before')).toBe('b0')
    expect(manifest).toMatchObject({ lateStart: true, coverage: { notRestorable: [] } })
  })

  test('or by whoever looks after turns', async () => {
    const { turn } = await whileHeld(() => beginWithin(0.05))
    expect(rig.deps.capture.listLeftBehind(rig.workspace)).toEqual([turn])
    expect(await whileHeld(() => rig.deps.capture.lookAfter(rig.workspace)), 'waits for nobody').toEqual([])
    expect(row(turn)).toMatchObject({ isUnseen: true })
    expect(await rig.deps.capture.lookAfter(rig.workspace)).toEqual([])
    expect(row(turn)).toMatchObject({ isUnseen: false, isOpen: true })
  })

  test('closes the session’s earlier turn, and the same key is the same turn', async () => {
    const first = await rig.begin({ key: 'k1' })
    const { turn } = await whileHeld(() => beginWithin(0.05, 'k2'))
    expect(row(first)).toMatchObject({ endReason: 'superseded' })
    expect(await whileHeld(() => beginWithin(0.05, 'k2'))).toMatchObject({ turn, lateStart: true })
    await rig.end('s1', 'k2')
    expect((await rig.manifest(first)).coverage.complete).toBe(false)
  })

  test('news that opens a turn waits no longer either', async () => {
    await settle()
    const news = { type: 'tool.before', key: 'k', tool: 'Edit', paths: ['a'] } as const
    const turn = await whileHeld(() => rig.event({ ...news, withinSeconds: 0.05 }))
    expect(row(turn as TurnId)).toMatchObject({ isUnseen: true, toolsInFlight: 1 })
    await rig.event({ ...news, tool: 'Read', paths: [] })
    rig.write('a', 'edited')
    await rig.end('s1', 'k')
    expect(await sources(turn as TurnId)).toEqual(['a tool'])
  })

  test('an end that finds the tree in use is remembered as the last that was heard', async () => {
    const turn = await rig.begin({ key: 'k' })
    await rig.event({ type: 'tool.before', key: 'k', tool: 'Bash', command: 'make' })
    rig.write('a', 'made')
    rig.deps.leases.run = () => Promise.reject(new DomainError('STORE_LOCKED', {}))
    await expect(rig.event({ type: 'turn.end', key: 'k' })).rejects.toMatchObject({ code: 'STORE_LOCKED' })
    rig.reopen()
    await pass()
    rig.write('b', 'by hand, much later')
    await rig.begin({ key: 'k2' })
    expect(await sources(turn)).toEqual(['a shell'])
    expect(outside()).toEqual(['b'])
  })

  test('waits for the tree as long as it may', async () => {
    const begun = await Promise.all([
      whileHeld(pass),
      new Promise((done) => setImmediate(done)).then(() => beginWithin(10)),
    ])
    expect(begun[1]).toMatchObject({ partial: false, lateStart: false })
  })
})

describe('news', () => {
  test('waits for nobody when the turn is open', async () => {
    const turn = await rig.begin({ key: 'k' })
    await whileHeld(async () => {
      expect(await rig.event({ type: 'tool.before', key: 'k', tool: 'Edit', paths: ['a'] })).toBe(turn)
    })
    rig.write('a', 'edited')
    await rig.end('s1', 'k')
    expect(await sources(turn)).toEqual(['a tool'])
  })

  test('that came while somebody looked counts for the next look too', async () => {
    const a = await rig.begin({ session: 'A' })
    await rig.begin({ session: 'B' })
    const lookAround = (meanwhile: () => Promise<unknown>) =>
      rig.deps.leases.run(rig.workspace, 'capture', async (lease: Lease) => {
        const options = { countExcluded: false, deadlineMs: null, late: new Set<TurnId>() }
        const looked = await lookAtTree(rig.deps, lease, rig.workspace, options)
        await meanwhile()
        rig.deps.log.transact(() => looked.record())
      })
    await rig.event({ session: 'A', type: 'tool.after', tool: 'Edit', paths: ['b'] })
    // It had passed the file already.
    await lookAround(() => rig.event({ session: 'A', type: 'tool.after', tool: 'Edit', paths: ['a'] }))
    rig.write('a', 'edited')
    rig.write('b', 'by somebody')
    await rig.end('A')
    expect(await sources(a)).toEqual(['a tool', 'b shared'])
  })

  test('a tool that is in flight at a look is seen on both sides of it', async () => {
    const a = await rig.begin({ session: 'A', key: 'k' })
    await rig.event({ session: 'A', type: 'tool.before', key: 'k', tool: 'Edit', paths: ['a'] })
    await rig.begin({ session: 'B' })
    rig.write('a', 'edited')
    rig.write('b', 'by somebody')
    await rig.end('A', 'k')
    expect(await sources(a)).toEqual(['a tool', 'b shared'])
  })

  test('names a file in any spelling: absolute, by detours, through links to it and to the root', async () => {
    symlinkSync('src', rig.at('link'))
    symlinkSync('src/d', rig.at('direct'))
    symlinkSync(rig.root, join(rig.top, 'other'))
    const named = (typed: string, folder = rig.root) => listNamedPaths(rig.workspace, folder, typed)
    for (const typed of [rig.at('src/d'), './src/../src/d', join(rig.top, 'other/src/d')])
      expect(named(typed)).toContain('src/d')
    for (const typed of ['link/d', 'direct', join(rig.top, 'other/link/d')])
      expect(named(typed)).toContain('src/d')
    expect(named('../a', rig.at('src'))).toEqual(['a'])
    expect(named('link/not/there/yet')).toContain('src/not/there/yet')
    expect(named('direct'), 'the link itself may be replaced').toContain('direct')
    for (const typed of ['/etc/hosts', '..', '.', '../elsewhere']) expect(named(typed)).toEqual([])
    unlinkSync(rig.at('direct'))
  })
})
