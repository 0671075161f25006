import { describe, expect, it } from 'vitest'
import {
  isSettled,
  type RestoreProgress,
  type RestoreStep,
  restoreStateSchema,
  stepRestore,
} from './state.ts'

const queued: RestoreProgress = {
  status: 'queued',
  mode: 'run',
  requestedAtMs: 0,
  token: null,
  expiresAtMs: 86_400_000,
}
const clean: RestoreStep = { type: 'planned', atMs: 5_000, token: 'T', isClean: true, mayRunAtOnce: true }

function run(at: RestoreProgress, ...steps: RestoreStep[]) {
  let now = at
  let effect: unknown = null
  for (const step of steps) {
    const made = stepRestore(now, step)
    if (!made.ok) return { refused: made.why, status: now.status }
    now = made.next
    effect = made.effect
  }
  return { status: now.status, effect, expiresAtMs: now.expiresAtMs }
}

describe('run', () => {
  it('is applied at once when the plan is clean, the machine allows it and nobody waited', () => {
    expect(run(queued, { type: 'taken-up', atMs: 10 }, clean)).toMatchObject({
      status: 'applying',
      effect: { type: 'commit', token: 'T' },
    })
  })

  it.each<[string, RestoreProgress, RestoreStep]>([
    ['it was only to be looked at', { ...queued, mode: 'preview' }, clean],
    ['the plan is not clean', queued, { ...clean, isClean: false }],
    ['the machine wants a word first', queued, { ...clean, mayRunAtOnce: false }],
    ['it was queued over a minute', queued, { ...clean, atMs: 60_001 }],
  ])('waits for a word when %s', (_why, at, step) => {
    expect(run(at, step)).toMatchObject({ status: 'awaiting-confirmation', effect: null })
  })

  it('is applied at once at the last moment of the minute', () => {
    expect(run(queued, { ...clean, atMs: 60_000 })).toMatchObject({ status: 'applying' })
  })
})

describe('a word', () => {
  const waiting: RestoreProgress = {
    ...queued,
    status: 'awaiting-confirmation',
    token: 'T',
    expiresAtMs: 600_000,
  }

  it('commits the very plan that was shown', () => {
    expect(run(waiting, { type: 'confirmed', atMs: 599_999, token: 'T' })).toMatchObject({
      status: 'applying',
      effect: { type: 'commit', token: 'T' },
    })
  })

  it('is refused for another plan, and for one that is too old', () => {
    expect(run(waiting, { type: 'confirmed', atMs: 1, token: 'other' })).toMatchObject({ refused: 'stale' })
    expect(run(waiting, { type: 'confirmed', atMs: 600_000, token: 'T' })).toMatchObject({ refused: 'stale' })
  })

  it('is not needed when the machine’s own user agreed: then a report comes', () => {
    expect(run(waiting, { type: 'reported', atMs: 1, status: 'done' })).toMatchObject({ status: 'done' })
  })

  it('is good once', () => {
    const word: RestoreStep = { type: 'confirmed', atMs: 1, token: 'T' }
    expect(run(waiting, word, word)).toEqual({ refused: 'state', status: 'applying' })
  })
})

it('is given up before it was begun, never after', () => {
  const cancel: RestoreStep = { type: 'cancelled', atMs: 1 }
  expect(run(queued, cancel)).toMatchObject({ status: 'cancelled', effect: { type: 'cancel' } })
  expect(run(queued, clean, cancel)).toEqual({ refused: 'state', status: 'applying' })
})

it('expires when its time is over, and a late report still counts if it had been committed', () => {
  const late: RestoreStep = { type: 'time-passed', atMs: 1e12 }
  const report: RestoreStep = { type: 'reported', atMs: 1e12, status: 'done' }
  expect(run(queued, { type: 'time-passed', atMs: 1 })).toMatchObject({ refused: 'state' })
  expect(run(queued, late)).toMatchObject({ status: 'expired' })
  expect(run(queued, late, report)).toMatchObject({ refused: 'state' })
  expect(run(queued, clean, late, report)).toMatchObject({ status: 'done', expiresAtMs: null })
})

it('a report is taken once, and nothing follows a settled state but a late report', () => {
  const report: RestoreStep = { type: 'reported', atMs: 9, status: 'nothing-to-do' }
  expect(run(queued, clean, report)).toMatchObject({ status: 'done' })
  expect(run(queued, clean, report, report)).toMatchObject({ refused: 'state' })
  const steps: RestoreStep[] = [
    { type: 'taken-up', atMs: 1 },
    clean,
    { type: 'refused', atMs: 1 },
    { type: 'confirmed', atMs: 1, token: 'T' },
    { type: 'cancelled', atMs: 1 },
    { type: 'time-passed', atMs: 1e15 },
  ]
  for (const status of restoreStateSchema.options.filter(isSettled))
    for (const step of steps)
      expect(stepRestore({ ...queued, status, token: 'T', expiresAtMs: null }, step)).toEqual({
        ok: false,
        why: 'state',
      })
})
