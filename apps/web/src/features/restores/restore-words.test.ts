import type { RestoreReport } from '@turnback/core'
import { expect, it } from 'vitest'
import { outcomeOf } from './report-view.tsx'
import { summaryOf } from './restore-words.ts'

const report: RestoreReport = {
  format: 'turnback.restore/1',
  restore: 'r_00000000000000000000000000',
  turn: 't_00000000000000000000000000',
  of: [],
  status: 'done',
  restored: ['a', 'b'],
  deleted: ['c'],
  merged: [],
  kept: [{ path: 'd', reason: 'changed-after-turn' }],
  failed: [],
  skipped: [],
  directories: { restored: [], deleted: [], kept: [] },
  alsoUndone: [],
  unchanged: 0,
  irreversible: [],
  verified: true,
  recovered: false,
  requestedBy: { kind: 'user', name: 'Ada' },
  startedAt: '2026-11-30T10:00:00.000Z',
  endedAt: '2026-11-30T10:00:01.000Z',
}

it('sums a report up without leaving out what was kept', () => {
  expect(summaryOf({ report, plan: null })).toBe('2 restored, 1 deleted, 1 kept')
  expect(summaryOf({ report: { ...report, restored: [], deleted: [], kept: [] }, plan: null })).toBe(
    'nothing to do',
  )
  expect(summaryOf({ report: null, plan: null })).toBe('')
})

it('is green only when all was done and read back', () => {
  expect(outcomeOf(report).tone).toBe('good')
  expect(outcomeOf({ ...report, verified: false }).tone).toBe('warn')
  expect(outcomeOf({ ...report, status: 'partly-done' }).tone).toBe('warn')
  expect(outcomeOf({ ...report, status: 'nothing-to-do' }).tone).toBe('info')
  expect(outcomeOf({ ...report, status: 'failed' }).tone).toBe('error')
  expect(outcomeOf({ ...report, status: 'refused', error: { code: 'BUSY', message: 'x' } }).title).toMatch(
    /still at work/,
  )
})
