import { ABSENT, type FileState, type PlanStep, type State } from '@turnback/core'
import { describe, expect, test } from 'vitest'
import type { BegunStep, StepOutcome, TreeWriter } from '#ports.ts'
import { writeSteps } from './write-steps.ts'

const MIB = 1024 * 1024
const file = (sizeBytes = 1): FileState => ({
  kind: 'file',
  blob: `p${'a'.repeat(64)}`,
  sizeBytes,
  mode: 0o644,
})

function step(path: string, to: State = file(), from: State = ABSENT): PlanStep {
  const effect = { popped: [], putBack: [], pushed: null }
  return { path, from, to, phase: 'create', list: 'restored', effect }
}

/** A disk that says what is done to it, and whose syncs come back when the test lets them. */
class Disk {
  readonly done: string[] = []
  readonly waiting: (() => void)[] = []
  beside = 0
  mostBeside = 0
  mostSyncs = 0
  isSlow = false
  failsAt = ''
  changed: string[] = []
  /** So many files, with names or without, and the disk is full; what replaced files took is given back by resting. */
  roomFor = Number.POSITIVE_INFINITY
  #used = 0
  #replaced = 0

  writer(): TreeWriter {
    return {
      look: () => ({ kind: 'absent' }),
      holds: (path) => !this.changed.includes(path),
      narrowFolders: () => [],
      apply: ({ path }) => this.#say('apply', path),
      begin: ({ path, to }, index) => (to.kind === 'file' ? this.#begin(path, to, index) : null),
      together: (work) => work(),
      sync: async () => [],
      rest: async (until) => {
        if (until !== 'all') return
        this.#used -= this.#replaced
        this.#replaced = 0
      },
      close: () => {},
      settle: () => {},
    }
  }

  #say(what: string, path: string): StepOutcome {
    this.done.push(`${what} ${path}`)
    return { ok: true }
  }

  #begin(path: string, { sizeBytes }: FileState, index: number): BegunStep | StepOutcome {
    if (path === this.failsAt) throw new Error('no more')
    if (this.#used >= this.roomFor) return { ok: false, why: 'error', code: 'ENOSPC', reason: 'full' }
    this.#used++
    this.#say('begin', `${path} ${index}`)
    this.beside++
    this.mostBeside = Math.max(this.mostBeside, this.beside)
    const sync = async () => {
      if (this.isSlow) {
        const back = new Promise<void>((done) => this.waiting.push(done))
        this.mostSyncs = Math.max(this.mostSyncs, this.waiting.length)
        await back
      }
      this.#say('synced', path)
    }
    const leave = (what: string): StepOutcome => {
      this.beside--
      this.#replaced++
      return this.#say(what, path)
    }
    return { sizeBytes, sync, finish: () => leave('finish'), giveUp: () => void leave('give up') }
  }
}

const nameless = (count: number, sizeBytes?: number): PlanStep[] =>
  Array.from({ length: count }, (_, i) => step(`f${i}`, file(sizeBytes)))

test('nothing more is begun, or named, by a process that may not write any more', async () => {
  const disk = new Disk()
  disk.isSlow = true
  let mayWrite = true
  const check = () => {
    if (!mayWrite) throw new Error('lost')
  }
  const running = writeSteps(disk.writer(), nameless(2), { check }, () => {})
  await expect.poll(() => disk.waiting.length).toBe(2)
  mayWrite = false
  for (const back of disk.waiting) back()
  await expect(running).rejects.toThrow('lost')
  expect(disk.done.filter((line) => line.startsWith('finish'))).toEqual([])
  expect(disk.beside).toBe(0)
  await expect(writeSteps(disk.writer(), nameless(1), { check }, () => {})).rejects.toThrow('lost')
  expect(disk.beside).toBe(0)
})

test('a file gets its name after its bytes are durable, and names are given in the order of the plan', async () => {
  const disk = new Disk()
  disk.isSlow = true
  const told: number[] = []
  const running = writeSteps(disk.writer(), nameless(3), {}, (index) => told.push(index))
  await expect.poll(() => disk.waiting.length).toBe(3)
  // The last ones are durable first.
  for (const back of [2, 1]) disk.waiting[back]?.()
  await expect.poll(() => disk.done.filter((line) => line.startsWith('synced')).length).toBe(2)
  expect(disk.done.filter((line) => line.startsWith('finish'))).toEqual([])
  disk.waiting[0]?.()
  await running
  expect(disk.done.slice(-4)).toEqual(['synced f0', 'finish f0', 'finish f1', 'finish f2'])
  expect(told).toEqual([0, 1, 2])
})

test('nothing is taken away, and no folder gets another mode, while files wait for their names', async () => {
  const disk = new Disk()
  const dir = (mode: number): State => ({ kind: 'dir', mode })
  const steps = [
    step('new', dir(0o755)),
    step('new/a'),
    step('link', { kind: 'symlink', target: 'x' }),
    step('shut', dir(0o555), dir(0o755)),
    step('b'),
    step('old', ABSENT, file()),
  ]
  await writeSteps(disk.writer(), steps, { placeOf: (index) => index + 10 }, () => {})
  expect(disk.done.filter((line) => !line.startsWith('synced'))).toEqual([
    ...['apply new', 'begin new/a 11', 'apply link', 'finish new/a', 'apply shut'],
    ...['begin b 14', 'finish b', 'apply old'],
  ])
})

test('what lies beside its place is bounded by count and by bytes, and so is what waits for the disk', async () => {
  const many = new Disk()
  await writeSteps(many.writer(), nameless(1000), {}, () => {})
  expect(many.mostBeside).toBe(128)
  const big = new Disk()
  await writeSteps(big.writer(), nameless(10, 20 * MIB), {}, () => {})
  expect(big.mostBeside).toBe(2)
  const slow = new Disk()
  slow.isSlow = true
  const running = writeSteps(slow.writer(), nameless(40), {}, () => {})
  for (let back = 0; back < 40; back++) {
    await expect.poll(() => slow.waiting.length).toBeGreaterThan(0)
    slow.waiting.shift()?.()
  }
  await running
  expect(slow.mostSyncs).toBe(8)
})

test('what is as wanted already, or somebody else’s, is not begun', async () => {
  const disk = new Disk()
  const outcomes: StepOutcome[] = []
  const choose = ({ path }: PlanStep): StepOutcome | PlanStep =>
    path === 'f1' ? { ok: false, why: 'changed' } : step(path)
  await writeSteps(disk.writer(), nameless(2), { choose }, (index, outcome) => {
    outcomes[index] = outcome
  })
  expect([disk.done[0], outcomes]).toEqual(['begin f0 0', [{ ok: true }, { ok: false, why: 'changed' }]])
})

test('a run that breaks off leaves nothing beside its place', async () => {
  const disk = new Disk()
  disk.failsAt = 'f2'
  await expect(writeSteps(disk.writer(), nameless(4), {}, () => {})).rejects.toThrow('no more')
  expect(disk.done.slice(-2)).toEqual(['give up f0', 'give up f1'])
  expect(disk.beside).toBe(0)
})

test('on a disk with room for a few more, those land before the next are begun, and only what has no room alone fails', async () => {
  const disk = new Disk()
  disk.roomFor = 3
  const outcomes: StepOutcome[] = []
  const take = (index: number, outcome: StepOutcome): void => {
    outcomes[index] = outcome
  }
  await writeSteps(disk.writer(), nameless(20), {}, take)
  expect(outcomes).toEqual(Array.from({ length: 20 }, () => ({ ok: true })))
  disk.roomFor = 0
  await writeSteps(disk.writer(), nameless(2), {}, take)
  expect(outcomes.slice(0, 2)).toMatchObject([{ code: 'ENOSPC' }, { code: 'ENOSPC' }])
})

describe('the files of a database', () => {
  const steps = [
    step('a'),
    step('app.db-wal', ABSENT, file()),
    step('app.db', file(), file(2)),
    step('app.db-journal'),
    step('b'),
  ]

  test('are all durable before the first of them is touched, and then follow each other', async () => {
    const disk = new Disk()
    await writeSteps(disk.writer(), steps, {}, () => {})
    expect(disk.done.slice(0, -3)).toEqual([
      ...['begin a 0', 'synced a', 'finish a'],
      ...['begin app.db 2', 'begin app.db-journal 3', 'synced app.db', 'synced app.db-journal'],
      ...['apply app.db-wal', 'finish app.db', 'finish app.db-journal'],
    ])
    expect(disk.beside).toBe(0)
  })

  test.each(['app.db-wal', 'app.db', 'app.db-journal'])(
    'are all left alone when somebody wrote to %s',
    async (path) => {
      const disk = new Disk()
      disk.changed = [path]
      const outcomes: StepOutcome[] = []
      await writeSteps(disk.writer(), steps, {}, (index, outcome) => {
        outcomes[index] = outcome
      })
      const changed: StepOutcome = { ok: false, why: 'changed' }
      expect(outcomes).toEqual([{ ok: true }, changed, changed, changed, { ok: true }])
      expect(disk.done.filter((line) => /^(apply|finish) app/.test(line))).toEqual([])
      expect(disk.beside).toBe(0)
    },
  )

  test('are all left alone when one of them can not be written, or is somebody else’s by now', async () => {
    const outcomes: StepOutcome[] = []
    const take = (index: number, outcome: StepOutcome): void => {
      outcomes[index] = outcome
    }
    const kept: StepOutcome = { ok: false, why: 'changed' }
    const choose = (each: PlanStep): StepOutcome | PlanStep => (each.path === 'app.db' ? kept : each)
    await writeSteps(new Disk().writer(), steps.slice(1, 4), { choose }, take)
    expect(outcomes).toEqual([kept, kept, kept])
    const disk = new Disk()
    disk.roomFor = 1
    await writeSteps(disk.writer(), steps.slice(1, 4), {}, take)
    expect(outcomes).toMatchObject([{ code: 'ENOSPC' }, { code: 'ENOSPC' }, { code: 'ENOSPC' }])
    expect(disk.done.filter((line) => /^(apply|finish)/.test(line))).toEqual([])
    expect(disk.beside).toBe(0)
  })
})
