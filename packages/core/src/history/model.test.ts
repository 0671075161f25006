import { describe, expect, it } from 'vitest'
import type { RelPath } from '#path/rel-path.ts'
import type { RestorePlan } from '#restore/restore-plan.ts'
import {
  CoreWorkspace,
  type HistoryOp,
  HistoryOracle,
  RIGHT_DESIGN,
  randomHistory,
  textFile,
  type WorkspaceDesign,
} from '#testing/index.ts'
import { equalStates, nothingToRecord, type State } from '#tree/state.ts'
import { stateIn } from '#tree/tree.ts'
import { liveStacks } from './stack.ts'

const HISTORIES = 20_000

const UNTOUCHED = textFile('nobody ever writes here\n')
const START: readonly [RelPath, State][] = [
  ['a', textFile('0=0\n1=0\n2=0\n3=0\n4=0\n5=0\n')],
  ['d', { kind: 'dir', mode: 0o755 }],
  ['d/x', textFile('0=1\n1=1\n2=1\n3=1\n4=1\n5=1\n')],
  ['d/e', { kind: 'dir', mode: 0o755 }],
  ['d/e/z', textFile('0=2\n1=2\n2=2\n3=2\n4=2\n5=2\n', 0o755)],
  ['untouched', UNTOUCHED],
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
  const book = new Book()
  for (const [path, state] of START) book.note(path, state)
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
    const broken = got === null ? null : findBrokenPromise(core, book)
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

/** What must hold whatever the rules say in detail. Looked at after each restoring command. */
function findBrokenPromise(core: CoreWorkspace, book: Book): string | null {
  if (core.tree.get('untouched') !== UNTOUCHED) return 'a path that no turn touched was changed'
  for (const { path, before, after } of core.changes.slice(book.changes)) book.note(path, before, after)
  for (const event of core.events.slice(book.events)) {
    for (const { path, before, after } of event.pushed) book.note(path, before, after)
  }
  book.changes = core.changes.length
  book.events = core.events.length
  for (const [path, stack] of liveStacks(core.changes, core.events)) {
    const [top, present] = [stack.at(-1)?.after, stateIn(core.tree, path)]
    if (top === undefined || nothingToRecord(top, present) || core.wasHidden(path)) continue
    return `the top of the stack of ${path} is not what is there`
  }
  const plan = core.plans.at(-1)
  return plan === undefined ? null : findFaultOfPlan(plan, core, book)
}

/** Every state that stands in the log. */
class Book {
  changes = 0
  events = 0
  readonly #states = new Map<RelPath, State[]>()

  note(path: RelPath, ...states: State[]): void {
    this.#states.set(path, [...(this.#states.get(path) ?? []), ...states])
  }

  holds(path: RelPath, state: State): boolean {
    return this.#states.get(path)?.some((known) => equalStates(known, state)) ?? false
  }
}

function findFaultOfPlan(plan: RestorePlan, core: CoreWorkspace, book: Book): string | null {
  const before = new Map(core.changes.map((change) => [`${change.scan} ${change.path}`, change.before.kind]))
  for (const step of plan.steps) {
    if (step.from.kind !== 'absent' && !book.holds(step.path, step.from)) {
      return `${step.path} was overwritten, and its bytes stand in no stack and no log`
    }
    const isProven = step.effect.popped.some((ref) => before.get(`${ref.scan} ${ref.path}`) === 'absent')
    if (step.to.kind === 'absent' && plan.takenBack === null && !isProven) {
      return `${step.path} was deleted though no change says that it was absent before`
    }
  }
  const listed = [...plan.steps, ...plan.settled, ...plan.kept, ...plan.keptDirectories, ...plan.skipped]
  if (new Set(listed.map((item) => item.path)).size !== listed.length) return 'a path stands in two lists'
  if (JSON.stringify(JSON.parse(JSON.stringify(plan))) !== JSON.stringify(plan))
    return 'the plan is no plain data'
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

/** The seeds, of the first `count`, whose history comes out otherwise than the oracle says. */
function differingSeeds(count: number, design: WorkspaceDesign, stopAt = Number.POSITIVE_INFINITY): number[] {
  const differing: number[] = []
  for (let seed = 1; seed <= count && differing.length < stopAt; seed++) {
    if (findDifference(randomHistory(seed), seed, design) !== null) differing.push(seed)
  }
  return differing
}

function explain(seed: number, design: WorkspaceDesign): string {
  const few = cutDown(randomHistory(seed), seed, design)
  return [`seed ${seed}`, ...few.map((op) => JSON.stringify(op)), findDifference(few, seed, design)].join(
    '\n',
  )
}

describe('histories at random', () => {
  it(`${HISTORIES} of them come out as the oracle says`, () => {
    const differing = differingSeeds(HISTORIES, RIGHT_DESIGN)
    const [first] = differing
    if (first !== undefined) console.log(explain(first, RIGHT_DESIGN))
    expect(differing.slice(0, 20)).toEqual([])
  }, 120_000)

  it('reach every kind of line that a report can have', () => {
    const kinds = new Map<string, number>()
    for (let seed = 1; seed <= 2_000; seed++) {
      const core = new CoreWorkspace(START, { ...RIGHT_DESIGN, hasBlob: (blob) => !lostIn(seed)(blob) })
      for (const op of randomHistory(seed)) {
        for (const line of core.apply(op)?.lines ?? []) {
          const [word = '', path = '', reason = ''] = line.split(' ')
          const kind = word === 'kept' ? `kept ${reason}` : word === 'directory' ? `directory ${path}` : word
          kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
        }
      }
    }
    const reasons = [
      'changed-after-turn',
      'type-changed',
      'owned-by-other-session',
      'interleaved-with-other-session',
      'shared',
      'not-captured',
      'missing-blob',
      'blocked-by-parent',
      'directory-not-empty',
    ]
    const lines = ['restored', 'deleted', 'merged', 'skipped', 'also', 'of', 'unchanged']
    const directories = ['directory restored', 'directory deleted', 'directory kept']
    const wanted = [...reasons.map((reason) => `kept ${reason}`), ...lines, ...directories]
    expect(wanted.filter((kind) => (kinds.get(kind) ?? 0) < 3)).toEqual([])
  }, 60_000)

  it('undo, then redo, gives back the tree as it was', () => {
    let undone = 0
    for (let seed = 1; seed <= 3_000; seed++) {
      const core = new CoreWorkspace(START)
      for (const op of randomHistory(seed)) core.apply(op)
      core.apply({ op: 'checkpoint', paths: null })
      const before = JSON.stringify(sorted(core.tree))
      const live = JSON.stringify(sorted(core.live()))
      const undo = core.apply({ op: 'undo', session: null, onConflict: seed % 2 === 0 ? 'keep' : 'save' })
      if (undo?.status !== 'done') continue
      undone++
      core.apply({ op: 'redo' })
      expect(JSON.stringify(sorted(core.tree)), `seed ${seed}`).toBe(before)
      expect(JSON.stringify(sorted(core.live())), `seed ${seed}`).toBe(live)
    }
    expect(undone).toBeGreaterThan(1_000)
  }, 60_000)
})

describe('designs that are wrong differ from the oracle', () => {
  const wrong: Record<string, Partial<WorkspaceDesign>> = {
    'restores folded in as if they were edits': {
      readLog: ({ changes, events }, workspace) => {
        const carriedOut = workspace.plans.filter((plan) => plan.refusal === null)
        return {
          changes,
          events: events.map((event, i) => ({
            ...event,
            popped: [],
            putBack: [],
            pushed: (carriedOut[i]?.steps ?? []).map(({ path, from, to }) => ({
              path,
              before: from,
              after: to,
            })),
          })),
        }
      },
    },
    'undone turns dropped': {
      readLog: ({ changes, events }, workspace) => {
        const undone = new Set(workspace.marks().flatMap(([turn, mark]) => (mark === 'yes' ? [turn] : [])))
        return {
          changes: changes.filter((change) => !undone.has(change.turn)),
          events: events.map((event) => ({ ...event, popped: [], putBack: [] })),
        }
      },
    },
    'what a restore pushed forgotten': {
      readLog: ({ changes, events }) => ({
        changes,
        events: events.map((event) => ({ ...event, pushed: [] })),
      }),
    },
    "a person's changes left out": {
      readLog: ({ changes, events }) => ({
        changes: changes.filter((change) => change.kind !== 'outside'),
        events,
      }),
    },
  }
  for (const [name, design] of Object.entries(wrong)) {
    it(name, () => {
      expect(differingSeeds(4_000, { ...RIGHT_DESIGN, ...design }, 3).length).toBe(3)
    })
  }
})

describe('the example of the contract', () => {
  const edit = (line: number): HistoryOp => ({
    op: 'edit',
    edit: { do: 'write', path: 'a', line, value: 9 },
    tool: null,
  })
  const work = (line: number): HistoryOp[] => [
    { op: 'begin', session: 0 },
    edit(line),
    { op: 'end', session: 0 },
  ]
  const undo: HistoryOp = { op: 'undo', session: null, onConflict: 'keep' }

  it('T1 T2 T3, undo, undo, redo, T4, undo, undo, undo', () => {
    const core = new CoreWorkspace(START)
    const marks = (): string =>
      core
        .marks()
        .map(([, mark]) => mark)
        .join(' ')
    const run = (...ops: HistoryOp[]): string => {
      for (const op of ops) core.apply(op)
      return marks()
    }
    expect(run(...work(0), ...work(1), ...work(2))).toBe('no no no')
    expect(run(undo)).toBe('no no yes')
    expect(run(undo)).toBe('no yes yes')
    expect(run({ op: 'redo' })).toBe('no no yes')
    expect(run(...work(3))).toBe('no no yes no')
    expect(run({ op: 'redo' }), 'a turn that changed something empties the redo line').toBe('no no yes no')
    expect(run(undo)).toBe('no no yes yes')
    expect(run(undo)).toBe('no yes yes yes')
    expect(run(undo)).toBe('yes yes yes yes')
    expect(core.tree.get('a')).toEqual(START[0]?.[1])
    const turns = core.turns.length
    expect(core.apply(undo)).toEqual({ status: 'nothing-to-do', lines: [] })
    expect(core.turns.length, 'nothing to take makes no turn').toBe(turns)
  })
})
