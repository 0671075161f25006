import { ABSENT, type State, type TurnId } from '@turnback/core'
import { expect, test } from 'vitest'
import type { Difference } from '#capture-ports.ts'
import { attribute, type Suspect } from './attribute.ts'

const file: State = { kind: 'file', blob: 'p0', sizeBytes: 1, mode: 0o644 }
const dir: State = { kind: 'dir', mode: 0o755 }
const suspect = (turn: TurnId, rest: Partial<Suspect> = {}): Suspect => ({
  turn,
  named: [],
  ranCommand: false,
  notAfterMs: null,
  ...rest,
})
const difference = (path: string, rest: Partial<Difference> = {}): Difference => ({
  path,
  before: ABSENT,
  after: file,
  changedMs: 100,
  ...rest,
})

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

test('a tool that names a file made the folders above it, but no other file in them', () => {
  const a = suspect('t_a', { named: ['x/y/z'] })
  const b = suspect('t_b')
  expect(attribute(difference('x/y', { after: dir }), [a, b])).toMatchObject({ turn: 't_a' })
  expect(attribute(difference('x/other'), [a, b])).toMatchObject({ kind: 'shared' })
  expect(attribute(difference('x/y'), [a, b])).toMatchObject({ kind: 'shared' })
})

test('what is later than the last event of a turn that we close is not its work, unless a tool named it', () => {
  const late = suspect('t_a', { named: ['named'], notAfterMs: 50 })
  expect(attribute(difference('a'), [late])).toEqual({ kind: 'outside' })
  expect(attribute(difference('a', { changedMs: 50 }), [late])).toMatchObject({ turn: 't_a' })
  expect(attribute(difference('named'), [late])).toMatchObject({ turn: 't_a', source: 'tool' })
  expect(attribute(difference('a'), [late, suspect('t_b')])).toMatchObject({ turn: 't_b' })
})
