import { ABSENT, type FileState, type PlanStep, type State } from '@turnback/core'
import { describe, expect, test } from 'vitest'
import type { Present, StepOutcome, TreeWriter } from '#ports.ts'
import type { FolderFault } from '#write-ports.ts'
import { carryOut, passesThroughNothing, withoutSetId } from './carry-out.ts'

const file = (digit: string, mode = 0o644): FileState => ({
  kind: 'file',
  blob: `p${digit.repeat(64)}`,
  sizeBytes: 1,
  mode,
})
const DIR: State = { kind: 'dir', mode: 0o755 }
const OK: StepOutcome = { ok: true }
const NO_EFFECT = { popped: [], putBack: [], pushed: null }

function step(path: string, over: Partial<PlanStep> = {}): PlanStep {
  return {
    path,
    from: file('a'),
    to: file('b'),
    phase: 'create',
    list: 'restored',
    effect: NO_EFFECT,
    ...over,
  }
}

/** A disk that answers as the test says: only what comes of steps is looked at here. */
function writerWith(answers: {
  holds?: (path: string) => boolean
  look?: Present
  synced?: string[]
  outcome?: (path: string) => StepOutcome | undefined
  faults?: FolderFault[]
  closed?: () => void
}): TreeWriter {
  return {
    look: () => answers.look ?? { kind: 'file', sizeBytes: 1, mode: 0o644 },
    holds: (path) => answers.holds?.(path) ?? true,
    narrowFolders: () => [],
    apply: (step) => answers.outcome?.(step.path) ?? OK,
    begin: () => null,
    together: (work) => work(),
    sync: async (folders) => {
      answers.synced?.push(...folders)
      return answers.faults ?? []
    },
    rest: async () => {},
    close: () => answers.closed?.(),
    settle: () => {},
  }
}

describe('carryOut', () => {
  test('counts as done only what reads back as wanted', async () => {
    const writer = writerWith({ holds: (path) => path !== 'b' })
    const { done, outcomes } = await carryOut(writer, [step('a'), step('b')])
    expect(done.map((item) => item.path)).toEqual(['a'])
    expect(outcomes.failed).toMatchObject([{ path: 'b', code: 'NOT_AS_WRITTEN' }])
  })

  test('one bad path keeps none of the others back, and each says why', async () => {
    const outcomes: Record<string, StepOutcome> = {
      a: { ok: false, why: 'error', code: 'EACCES', reason: 'EACCES: permission denied, open' },
      b: { ok: false, why: 'changed' },
      c: { ok: false, why: 'blocked', by: 'link' },
      d: { ok: false, why: 'blocked', by: 'missing' },
      e: { ok: false, why: 'not-empty' },
      f: { ok: false, why: 'missing-blob' },
    }
    const steps = [...'abcdefg'].map((path) => step(path))
    const holds = (path: string) => path === 'g'
    const carried = await carryOut(writerWith({ outcome: (path) => outcomes[path], holds }), steps)
    expect(carried.done.map((item) => item.path)).toEqual(['g'])
    expect(carried.outcomes).toEqual({
      failed: [{ path: 'a', code: 'EACCES', reason: 'EACCES: permission denied, open' }],
      kept: [
        { path: 'b', reason: 'changed-after-turn' },
        { path: 'c', reason: 'outside-workspace' },
        { path: 'd', reason: 'blocked-by-parent' },
        { path: 'e', reason: 'directory-not-empty' },
        { path: 'f', reason: 'missing-blob' },
      ],
      keptDirectories: [],
      lost: [],
    })
  })

  test('what a step that was done could not keep is said with its path', async () => {
    const writer = writerWith({ outcome: (path) => (path === 'a' ? { ok: true, lost: ['hard-link'] } : OK) })
    const { outcomes } = await carryOut(writer, [step('a'), step('b')])
    expect(outcomes.lost).toEqual([{ path: 'a', what: 'hard-link' }])
  })

  test('files in a folder that the disk did not make durable are failed lines, and the others are done', async () => {
    const writer = writerWith({ faults: [{ path: 'x', code: 'EIO', reason: 'EIO: i/o error, fsync' }] })
    const { done, outcomes } = await carryOut(writer, [step('a'), step('x/b'), step('x/y/c')])
    expect(done.map((item) => item.path)).toEqual(['a', 'x/y/c'])
    expect(outcomes.failed).toEqual([
      { path: 'x/b', code: 'NOT_DURABLE', reason: expect.stringContaining('loss of power') },
    ])
  })

  test('whatever breaks it off, nothing is held on to', async () => {
    let closed = 0
    const outcome = (): never => {
      throw new Error('broken')
    }
    const writer = writerWith({ outcome, closed: () => void closed++ })
    await expect(carryOut(writer, [step('a')])).rejects.toThrow('broken')
    expect(closed).toBe(1)
  })

  test('what broke off after the deed is done all the same', async () => {
    const closed: StepOutcome = { ok: false, why: 'error', code: 'EIO', reason: 'EIO: i/o error, close' }
    const { done, outcomes } = await carryOut(writerWith({ outcome: () => closed }), [step('a')])
    expect([done.length, outcomes.failed]).toEqual([1, []])
  })

  test('another kind under the name is said so', async () => {
    const look: Present = { kind: 'symlink', target: '/etc/passwd' }
    const writer = writerWith({ look, outcome: () => ({ ok: false, why: 'changed' }) })
    const { outcomes } = await carryOut(writer, [step('a')])
    expect(outcomes.kept).toEqual([{ path: 'a', reason: 'type-changed' }])
  })

  test('directories that stay have their own list', async () => {
    const gone = step('d', { from: DIR, to: ABSENT, phase: 'rmdir', list: 'directories.deleted' })
    const { outcomes } = await carryOut(writerWith({ outcome: () => ({ ok: false, why: 'not-empty' }) }), [
      gone,
    ])
    expect(outcomes).toEqual({ failed: [], kept: [], keptDirectories: ['d'], lost: [] })
  })

  test('the folders of what was done are made durable before anything is read back', async () => {
    const synced: string[] = []
    const writer = writerWith({ synced, holds: () => synced.length === 2 })
    const { done } = await carryOut(writer, [step('a'), step('x/y/b')])
    expect([synced, done.length]).toEqual([['', 'x/y'], 2])
  })
})

test('set-id bits are not asked for, and what is written instead is pushed', () => {
  const plain = step('a')
  expect(withoutSetId(plain)).toBe(plain)
  const wanted = file('b', 0o4755)
  const written = file('b', 0o755)
  expect(withoutSetId(step('a', { to: wanted }))).toMatchObject({
    to: written,
    effect: { pushed: { before: wanted, after: written } },
  })
  const shared: State = { kind: 'dir', mode: 0o3775 }
  expect(withoutSetId(step('d', { to: shared })).to).toEqual(shared)
  expect(withoutSetId(step('d', { to: { ...shared, mode: 0o7775 } })).to).toEqual(shared)
})

test('only a change between a directory and something else has a moment without anything', () => {
  const link: State = { kind: 'symlink', target: 'x' }
  const cases: [State, State, boolean][] = [
    [file('a'), DIR, true],
    [DIR, link, true],
    [file('a'), link, false],
    [ABSENT, DIR, false],
    [DIR, ABSENT, false],
    [DIR, DIR, false],
  ]
  for (const [from, to, answer] of cases) expect(passesThroughNothing({ from, to })).toBe(answer)
})
