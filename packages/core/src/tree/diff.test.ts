import { describe, expect, it } from 'vitest'
import { textFile } from '#testing/index.ts'
import { diffTrees } from './diff.ts'
import { ABSENT, type SkippedState, type State } from './state.ts'
import { stateIn } from './tree.ts'

const dir: State = { kind: 'dir', mode: 0o755 }
const out: SkippedState = { kind: 'skipped', reason: 'excluded-directory' }
const big: SkippedState = { kind: 'skipped', reason: 'too-large' }
const tree = (states: Record<string, State>): Map<string, State> => new Map(Object.entries(states))

describe('diffTrees', () => {
  it('lists what was made, changed and removed, directories included, by path', () => {
    const before = tree({
      a: textFile('1'),
      d: dir,
      'd/x': textFile('x'),
      l: { kind: 'symlink', target: 'a' },
      same: textFile('s'),
    })
    const after = tree({
      a: textFile('1', 0o755),
      e: dir,
      l: { kind: 'symlink', target: 'b' },
      same: textFile('s'),
    })
    expect(
      diffTrees(before, after).map((change) => [change.path, change.before.kind, change.after.kind]),
    ).toEqual([
      ['a', 'file', 'file'],
      ['d', 'dir', 'absent'],
      ['d/x', 'file', 'absent'],
      ['e', 'absent', 'dir'],
      ['l', 'symlink', 'symlink'],
    ])
  })

  it('never takes what it cannot see for absent', () => {
    const seen = tree({ d: dir, 'd/x': textFile('x') })
    const hidden = tree({ d: out })
    expect(diffTrees(seen, hidden)).toEqual([{ path: 'd', before: dir, after: out }])
    expect(diffTrees(hidden, seen)).toEqual([{ path: 'd', before: out, after: dir }])
    expect(stateIn(hidden, 'd/x')).toEqual(out)
  })

  it('a file that is too large hides nothing', () => {
    const seen = tree({ d: dir, 'd/x': textFile('x') })
    expect(diffTrees(seen, tree({ d: big })).map((change) => change.path)).toEqual(['d', 'd/x'])
    expect(stateIn(tree({ d: big }), 'd/x')).toEqual(ABSENT)
  })

  it('skipped for the same reason is no news, for another reason it is', () => {
    expect(diffTrees(tree({ a: big }), tree({ a: { ...big, sizeBytes: 9 } }))).toEqual([])
    expect(diffTrees(tree({ a: big }), tree({ a: out }))).toHaveLength(1)
  })
})
