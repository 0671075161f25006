import type { State } from '@turnback/core'
import { describe, expect, it } from 'vitest'
import { describeState, type ListedEntry, modeChange, shapeOf, statusOf } from './entry-words.ts'

const file = (digit: string, mode = 0o644): State => ({
  kind: 'file',
  blob: `p${digit.repeat(64)}`,
  sizeBytes: 1200,
  mode,
})
const absent: State = { kind: 'absent' }
const skipped: State = { kind: 'skipped', reason: 'too-large', sizeBytes: 90_000_000 }

function entry(before: State, after: State, sealed = false): ListedEntry {
  return { path: 'a', before, after, source: 'tool', scan: 1, sealed }
}

describe('statusOf and shapeOf', () => {
  it.each([
    ['added', 'text', entry(absent, file('1'))],
    ['deleted', 'text', entry(file('1'), absent)],
    ['modified', 'text', entry(file('1'), file('2'))],
    ['modified', 'sealed', entry(file('1'), file('2'), true)],
    ['added', 'sealed', entry(absent, file('2'), true)],
    ['mode', 'mode', entry(file('1', 0o644), file('1', 0o755))],
    ['mode', 'mode', entry(file('1', 0o644), file('1', 0o755), true)],
    ['type', 'text', entry(file('1'), { kind: 'symlink', target: 'x' })],
    ['modified', 'states', entry({ kind: 'symlink', target: 'x' }, { kind: 'symlink', target: 'y' })],
    ['added', 'states', entry(absent, { kind: 'dir', mode: 0o755 })],
    ['added', 'skipped', entry(absent, skipped)],
    ['deleted', 'skipped', entry(skipped, absent)],
    ['skipped', 'skipped', entry(skipped, file('1'))],
  ])('%s is shown as %s', (status, shape, given) => {
    expect(statusOf(given)).toBe(status)
    expect(shapeOf(given)).toBe(shape)
  })
})

it('says what a state is', () => {
  expect(describeState(file('1', 0o755))).toBe('file, 1.2 KB, mode 755')
  expect(describeState(skipped)).toBe('there, not captured: larger than the size limit (86 MB)')
  expect(describeState(absent)).toBe('not there')
})

it('finds the mode that changed beside the contents', () => {
  expect(modeChange(entry(file('1', 0o644), file('2', 0o755)))).toEqual({ from: '644', to: '755' })
  expect(modeChange(entry(file('1'), file('2')))).toBeNull()
  expect(modeChange(entry(absent, file('2', 0o755)))).toBeNull()
})
