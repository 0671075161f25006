import { ABSENT, limits, type State, type TurnId } from '@turnback/core'
import { describe, expect, test } from 'vitest'
import type { Difference } from '#capture-ports.ts'
import type { ToolEvent } from '#ports.ts'
import { attributeAll, makeSuspect, type Suspect } from './attribute.ts'

const file: State = { kind: 'file', blob: 'p0', sizeBytes: 1, mode: 0o644 }
const dir: State = { kind: 'dir', mode: 0o755 }
const suspect = (turn: TurnId, rest: Partial<Suspect> = {}): Suspect => ({
  turn,
  named: [],
  ranCommand: false,
  notAfterMs: null,
  notBeforeMs: null,
  isOver: false,
  ...rest,
})
const difference = (path: string, rest: Partial<Difference> = {}): Difference => ({
  path,
  before: ABSENT,
  after: file,
  changedMs: 100,
  ...rest,
})
const attribute = (one: Difference, suspects: readonly Suspect[]) => attributeAll([one], suspects)[0]?.owner
/** `path: turn source`, or `path: outside`, or `path: shared`. */
const owners = (differences: readonly Difference[], suspects: readonly Suspect[]) =>
  attributeAll(differences, suspects).map(({ difference: { path }, owner }) =>
    owner.kind === 'turn' ? `${path}: ${owner.turn} ${owner.source}` : `${path}: ${owner.kind}`,
  )

test('with no turn open it is nobody’s; with one it is that one’s', () => {
  expect(attribute(difference('a'), [])).toEqual({ kind: 'outside' })
  expect(attribute(difference('a'), [suspect('t_a')])).toEqual({
    kind: 'turn',
    turn: 't_a',
    source: 'unknown',
  })
  expect(attribute(difference('a'), [suspect('t_a', { ranCommand: true })])).toMatchObject({
    source: 'shell',
  })
  expect(attribute(difference('a'), [suspect('t_a', { named: ['a'] })])).toMatchObject({ source: 'tool' })
})

test('with several, the one that names the path; two that do, or none, share it', () => {
  const a = suspect('t_a', { named: ['a', 'both'] })
  const b = suspect('t_b', { named: ['both'] })
  expect(attribute(difference('a'), [a, b])).toEqual({ kind: 'turn', turn: 't_a', source: 'tool' })
  expect(attribute(difference('both'), [a, b])).toEqual({ kind: 'shared', turns: ['t_a', 't_b'] })
  expect(attribute(difference('none'), [a, b, suspect('t_c')])).toMatchObject({
    turns: ['t_a', 't_b', 't_c'],
  })
})

test('a tool that names a file made the folders above it, or left them empty, but touched no other file in them', () => {
  const a = suspect('t_a', { named: ['x/y/z'] })
  const b = suspect('t_b')
  expect(attribute(difference('x/y', { after: dir }), [a, b])).toMatchObject({ turn: 't_a' })
  expect(attribute(difference('x/y', { before: dir, after: ABSENT }), [a, b])).toMatchObject({ turn: 't_a' })
  expect(attribute(difference('x/other'), [a, b])).toMatchObject({ kind: 'shared' })
  expect(attribute(difference('x/y'), [a, b])).toMatchObject({ kind: 'shared' })
  const mode = difference('x/y', { before: dir, after: { ...dir, mode: 0o700 } })
  expect(attribute(mode, [a, b]), 'the mode of a folder is nobody’s').toMatchObject({ kind: 'shared' })
})

test('what is later than the last event of a turn that we close is not its work, unless a tool named it', () => {
  const late = suspect('t_a', { named: ['named'], notAfterMs: 50 })
  expect(attribute(difference('a'), [late])).toEqual({ kind: 'outside' })
  expect(attribute(difference('a', { changedMs: 50 }), [late])).toMatchObject({ turn: 't_a' })
  expect(attribute(difference('named'), [late])).toMatchObject({ turn: 't_a', source: 'tool' })
  expect(attribute(difference('a'), [late, suspect('t_b')])).toMatchObject({ turn: 't_b' })
})

test('what is later than the end that an agent gave is not its work, though a tool had named it', () => {
  const over = suspect('t_a', { named: ['named'], notAfterMs: 50, isOver: true })
  expect(attribute(difference('named'), [over])).toEqual({ kind: 'outside' })
  expect(attribute(difference('named', { changedMs: 50 }), [over])).toMatchObject({ source: 'tool' })
  expect(attribute(difference('named'), [over, suspect('t_b')])).toMatchObject({
    turn: 't_b',
    source: 'unknown',
  })
})

test('what is earlier than a begin without a look is not its work', () => {
  const unseen = suspect('t_a', { notBeforeMs: 200 })
  expect(attribute(difference('a'), [unseen])).toEqual({ kind: 'outside' })
  expect(attribute(difference('a', { changedMs: 200 }), [unseen])).toMatchObject({ turn: 't_a' })
})

describe('what went from one path to another', () => {
  const bytes = (blob: `p${string}`, sizeBytes = 5): State => ({ kind: 'file', blob, sizeBytes, mode: 0o644 })
  const gone = (path: string, blob: `p${string}`, changedMs = 100, sizeBytes = 5) =>
    difference(path, { before: bytes(blob, sizeBytes), after: ABSENT, changedMs })
  const come = (path: string, blob: `p${string}`, changedMs = 100, sizeBytes = 5) =>
    difference(path, { after: bytes(blob, sizeBytes), changedMs })

  test('a tool that names one of the two paths means both', () => {
    const pair = [gone('old', 'p1'), come('new', 'p1')]
    const b = suspect('t_b')
    const both = ['old: t_a tool', 'new: t_a tool']
    expect(owners(pair, [suspect('t_a', { named: ['new'] }), b])).toEqual(both)
    expect(owners(pair, [suspect('t_a', { named: ['old'] }), b])).toEqual(both)
    expect(owners([gone('old', 'p1'), come('new', 'p2')], [suspect('t_a', { named: ['new'] }), b])).toEqual([
      'old: shared',
      'new: t_a tool',
    ])
  })

  test('not when another file is alike, nor for empty files', () => {
    const a = suspect('t_a', { named: ['new'] })
    const two = [gone('old', 'p1'), gone('older', 'p1'), come('new', 'p1')]
    expect(owners(two, [a, suspect('t_b')])).toEqual(['old: shared', 'older: shared', 'new: t_a tool'])
    const empty = [gone('old', 'p1', 100, 0), come('new', 'p1', 100, 0)]
    expect(owners(empty, [a, suspect('t_b')])).toEqual(['old: shared', 'new: t_a tool'])
  })

  test('moving a folder leaves old times on its files; they are as new as their absence from where they were', () => {
    const late = suspect('t_a', { notAfterMs: 50 })
    const moved = [gone('src/f', 'p1', 90), come('lib/f', 'p1', 10)]
    expect(owners(moved, [late])).toEqual(['src/f: outside', 'lib/f: outside'])
    const alike = [
      gone('src/f', 'p1', 90),
      gone('src/g', 'p1', 90),
      come('lib/f', 'p1', 10),
      come('lib/g', 'p1', 10),
    ]
    expect(owners(alike, [late])).toEqual(alike.map(({ path }) => `${path}: outside`))
    expect(owners([come('lib/f', 'p1', 10)], [late]), 'alone it would be').toEqual(['lib/f: t_a unknown'])
  })
})

describe('makeSuspect', () => {
  const row = {
    turn: 't_a',
    lastEventMs: 1000,
    isUnseen: false,
    startedAt: '2026-01-01T00:00:00.000Z',
  } as const
  const event = (type: ToolEvent['type'], nextScan: number, rest: Partial<ToolEvent> = {}): ToolEvent => ({
    turn: 't_a',
    atMs: 1000,
    type,
    tool: 'Bash',
    command: null,
    paths: [],
    outside: [],
    nextScan,
    ...rest,
  })
  const make = (events: readonly ToolEvent[], isLate = false) => makeSuspect(row, events, 5, isLate)
  const edit = { tool: 'Edit', paths: ['a'] }

  test('events count from the scan before', () => {
    expect(make([event('tool.before', 4, edit), event('tool.after', 4, edit)]).named).toEqual([])
    expect(make([event('tool.after', 5, edit)]).named).toEqual(['a'])
    expect(make([event('tool.after', 4, { command: 'make' })]).ranCommand).toBe(false)
    expect(make([event('tool.before', 5, { command: 'make' })]).ranCommand).toBe(true)
  })

  test('a tool that was in flight at the scan before counts too', () => {
    expect(make([event('tool.before', 4, edit)]).named).toEqual(['a'])
    expect(
      make([event('tool.before', 4, { command: 'make' }), event('tool.after', 4, edit)]).ranCommand,
    ).toBe(false)
    const two = [event('tool.before', 3, { command: 'make' }), event('tool.before', 4, edit)]
    expect(
      make([...two, event('tool.after', 4, edit)]),
      'an end is of the likeliest beginning',
    ).toMatchObject({
      ranCommand: true,
      named: [],
    })
    expect(make([...two, event('turn.end', 4)])).toMatchObject({ ranCommand: false, named: [] })
  })

  test('work ends with the last event; a command without an end may go on for a while', () => {
    expect(make([event('tool.after', 4, edit)], true).notAfterMs).toBe(1000)
    expect(make([event('tool.before', 4, edit)], true).notAfterMs).toBe(1000)
    const running = make([event('tool.before', 4, { command: 'make' })], true)
    expect(running.notAfterMs).toBe(1000 + limits.commandInFlightSeconds * 1000)
    expect(make([event('tool.after', 4, edit)], false).notAfterMs, 'its agent ended it').toBeNull()
    expect(
      makeSuspect({ ...row, lastEventMs: null }, [], 5, true).notAfterMs,
      'no event, no limit',
    ).toBeNull()
  })
})
