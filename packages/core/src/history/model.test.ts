import { describe, expect, it } from 'vitest'
import type { RelPath } from '#path/rel-path.ts'
import {
  CoreWorkspace,
  type HistoryOp,
  HistoryOracle,
  RIGHT_DESIGN,
  randomHistory,
  textFile,
  type WorkspaceDesign,
} from '#testing/index.ts'
import type { State } from '#tree/state.ts'

const HISTORIES = 20_000

const START: readonly [RelPath, State][] = [
  ['a', textFile('0=0\n1=0\n2=0\n3=0\n4=0\n5=0\n')],
  ['d', { kind: 'dir', mode: 0o755 }],
  ['d/x', textFile('0=1\n1=1\n2=1\n3=1\n4=1\n5=1\n')],
  ['d/e', { kind: 'dir', mode: 0o755 }],
  ['d/e/z', textFile('0=2\n1=2\n2=2\n3=2\n4=2\n5=2\n', 0o755)],
  ['untouched', textFile('nobody ever writes here\n')],
]

/** In every eighth history the store has lost some bytes. */
function lostIn(seed: number): (blob: string) => boolean {
  return seed % 8 === 0 ? (blob) => blob.includes('2=3') : () => false
}

/** The first difference between the core and the oracle, or null. */
function findDifference(ops: readonly HistoryOp[], seed: number, design: WorkspaceDesign): string | null {
  const isLost = lostIn(seed)
  const core = new CoreWorkspace(START, { ...design, hasBlob: (blob) => !isLost(blob) })
  const oracle = new HistoryOracle(START, isLost)
  for (const [i, op] of ops.entries()) {
    const wanted = oracle.apply(op)
    let got: typeof wanted
    try {
      got = core.apply(op)
    } catch (error) {
      return `op ${i} ${JSON.stringify(op)}: ${error instanceof Error ? error.stack : error}`
    }
    if (op.op === 'edit' || op.op === 'begin') continue
    const difference =
      firstUnequal('outcome', got, wanted) ??
      firstUnequal('tree', sorted(core.tree), sorted(oracle.tree)) ??
      firstUnequal('marks', core.marks(), oracle.marks()) ??
      firstUnequal('stacks', sorted(core.live()), sorted(liveOf(oracle)))
    if (difference !== null) return `op ${i} ${JSON.stringify(op)}: ${difference}`
    const broken = findBrokenPromise(core, op)
    if (broken !== null) return `op ${i} ${JSON.stringify(op)}: ${broken}`
  }
  return null
}

function firstUnequal(what: string, got: unknown, wanted: unknown): string | null {
  const [a, b] = [JSON.stringify(got), JSON.stringify(wanted)]
  return a === b ? null : `${what}\n got    ${a}\n wanted ${b}`
}

function sorted<T>(map: ReadonlyMap<string, T>): [string, T][] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1))
}

function liveOf(oracle: HistoryOracle): Map<string, number[]> {
  return new Map(
    [...oracle.live]
      .filter(([, recs]) => recs.length > 0)
      .map(([path, recs]) => [path, recs.map((rec) => rec.id)]),
  )
}

/** What must hold whatever the rules say in detail. */
function findBrokenPromise(core: CoreWorkspace, _op: HistoryOp): string | null {
  if (JSON.stringify(core.tree.get('untouched')) !== JSON.stringify(START.at(-1)?.[1]))
    return 'a path that no turn touched was changed'
  return null
}

/** The shortest list that still differs, found by leaving out one operation after another. */
function cutDown(ops: readonly HistoryOp[], seed: number, design: WorkspaceDesign): HistoryOp[] {
  let left = [...ops]
  for (let again = true; again; ) {
    again = false
    for (let i = left.length - 1; i >= 0; i--) {
      const fewer = left.toSpliced(i, 1)
      if (findDifference(fewer, seed, design) === null) continue
      left = fewer
      again = true
    }
  }
  return left
}

describe('histories at random', () => {
  it('come out as the oracle says, every one of them', () => {
    const differing: number[] = []
    for (let seed = 1; seed <= HISTORIES; seed++) {
      const ops = randomHistory(seed)
      if (findDifference(ops, seed, RIGHT_DESIGN) === null) continue
      differing.push(seed)
      if (differing.length > 1) continue
      const few = cutDown(ops, seed, RIGHT_DESIGN)
      console.log(
        `seed ${seed}\n${few.map((op) => JSON.stringify(op)).join('\n')}\n${findDifference(few, seed, RIGHT_DESIGN)}`,
      )
    }
    expect(differing).toEqual([])
  }, 120_000)
})
