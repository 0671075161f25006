import { expect, it } from 'vitest'
import {
  dayOf,
  firstLine,
  formatAgo,
  formatBytes,
  formatClock,
  formatDay,
  formatDuration,
  formatMode,
  plural,
  shortId,
} from './format.ts'

it('writes sizes', () => {
  expect([0, 1023, 1024, 1536, 10_240, 5_000_000, 2 ** 50].map(formatBytes)).toEqual([
    '0 B',
    '1023 B',
    '1.0 KB',
    '1.5 KB',
    '10 KB',
    '4.8 MB',
    '1024 TB',
  ])
})

it('writes durations, never a negative one', () => {
  expect([-5, 420, 4_000, 60_000, 125_000, 4_320_000].map(formatDuration)).toEqual([
    '0.0 s',
    '0.4 s',
    '4 s',
    '1 min',
    '2 min 5 s',
    '1 h 12 min',
  ])
})

it('writes times by the reader’s zone', () => {
  const at = '2026-11-30T23:30:00.000Z'
  expect(formatClock(at, 'UTC')).toBe('23:30')
  expect(formatClock(at, 'Asia/Tokyo')).toBe('08:30')
  expect(dayOf(at, 'Asia/Tokyo')).toBe('2026-12-01')
})

it('names days near by, and the year when it is another', () => {
  const now = new Date('2026-11-30T12:00:00.000Z')
  expect(formatDay('2026-11-30T01:00:00.000Z', now, 'UTC')).toBe('Today')
  expect(formatDay('2026-11-29T23:00:00.000Z', now, 'UTC')).toBe('Yesterday')
  expect(formatDay('2026-11-27T12:00:00.000Z', now, 'UTC')).toMatch(/^Friday,? 27 November$/)
  expect(formatDay('2025-11-27T12:00:00.000Z', now, 'UTC')).toMatch(/^Thursday,? 27 November 2025$/)
})

it('tells how long ago', () => {
  const now = new Date('2026-11-30T12:00:00.000Z')
  const ago = (ms: number) => formatAgo(new Date(now.getTime() - ms).toISOString(), now)
  expect([0, -9000, 300_000, 7_200_000, 172_800_000].map(ago)).toEqual([
    'just now',
    'just now',
    '5 min ago',
    '2 h ago',
    '2 days ago',
  ])
})

it('writes counts, modes, ids and first lines', () => {
  expect([plural(1, 'file'), plural(4686, 'file'), plural(2, 'entry', 'entries')]).toEqual([
    '1 file',
    '4,686 files',
    '2 entries',
  ])
  expect([0o644, 0o4755, 0o7].map(formatMode)).toEqual(['644', '4755', '007'])
  expect(shortId('t_01kb8m4x7q5n9v2c3z0000052g')).toBe('t_0000052g')
  expect(firstLine('\n \n a \nb')).toBe('a')
})
