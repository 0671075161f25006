import { describe, expect, it } from 'vitest'
import { DomainError } from '#errors.ts'
import type { RelPath } from '#path/rel-path.ts'
import type { PlanContent } from '#restore/decision.ts'
import { ALL_DONE, settleRestore } from '#restore/outcome.ts'
import { type PlanInput, type PlanOptions, planRestore } from '#restore/plan.ts'
import type { RestorePlan } from '#restore/restore-plan.ts'
import { CoreWorkspace, randomHistory, SeededRandom, textFile } from '#testing/index.ts'
import { textOf } from '#testing/memory-tree.ts'
import { byteString, bytesOf } from '#text/lines.ts'
import { equalStates, nothingToRecord, type State } from '#tree/state.ts'
import { stateIn } from '#tree/tree.ts'
import type { RestoreEvent } from './change.ts'
import { extendListing, type Gap, type Listing, type RemovedSpan } from './gap.ts'
import { rememberRemoved, undoneMarks } from './marks.ts'
import { listCleanCuts } from './retention.ts'
import { liveStacks } from './stack.ts'
import type { TurnFacts } from './turn-facts.ts'
import { isWork } from './turn-facts.ts'

const START: readonly [RelPath, State][] = [
  ['a', textFile('0=0\n1=0\n2=0\n3=0\n4=0\n5=0\n')],
  ['d', { kind: 'dir', mode: 0o755 }],
  ['d/x', textFile('0=1\n1=1\n2=1\n3=1\n4=1\n5=1\n')],
]

const CONTENT: PlanContent = {
  hasBlob: () => true,
  readText: (blob) => bytesOf(textOf(blob)),
  nameText: (_, bytes) => `p${byteString(bytes)}`,
  sha256: (bytes) => byteString(bytes),
}

type Log = Omit<PlanInput, 'request'>

/** A log with everything in it, and the same log after retention has been at it once or twice. */
interface Case {
  readonly core: CoreWorkspace
  readonly whole: Log
  readonly cut: Log & { readonly gap: Gap }
  readonly listings: ReadonlyMap<string, Listing>
}

function wholeLog(core: CoreWorkspace): Log {
  const { changes, events, turns, restores, tree } = core
  return { changes, events, turns, restores, tree, content: CONTENT }
}

/** The last scan that found something of the turn. */
function endOf(turn: TurnFacts, { changes }: Log): number {
  const own = changes.filter((change) => change.turn === turn.turn || change.sharedBy.includes(turn.turn))
  return Math.max(turn.beginScan, ...own.map((change) => change.scan))
}

interface Wrong {
  readonly turns?: boolean
  readonly restores?: boolean
  readonly later?: boolean
}

function makeCase(seed: number, wrong: Wrong = {}): Case | null {
  const random = new SeededRandom(seed * 7 + 1)
  const core = new CoreWorkspace(START)
  for (const op of randomHistory(seed)) core.apply(op)
  core.apply({ op: 'checkpoint', paths: null })
  const whole = wholeLog(core)
  const turns = whole.turns.map((turn) => ({ ...kept(turn), endScan: endOf(turn, whole) }))
  const restores = whole.events.map((event) => {
    const named = [...event.popped, ...event.putBack].map((ref) => ref.scan)
    return { turn: event.turn, scan: event.scan, endedMs: 0, needs: Math.min(event.scan, ...named) }
  })
  const cuts = listCleanCuts({
    turns: wrong.turns === true ? turns.map((turn) => ({ ...turn, beginScan: turn.endScan })) : turns,
    restores: wrong.restores === true ? [] : restores,
  })
  const chosen = [random.pick(cuts), random.pick(cuts)].sort((a, b) => a - b)
  const [first, last] = chosen
  if (first === undefined || last === undefined) return null
  const isListed = (turn: TurnFacts): boolean => turn.kind === 'checkpoint' || turn.number % 2 === 0
  const listings = new Map<string, Listing>()
  for (const [from, to] of [
    [0, first],
    [first, last],
  ] as const) {
    if (from === to) continue
    const span = spanOf(core, whole, from, to)
    for (const turn of whole.turns.filter((each) => isListed(each) && endOf(each, whole) <= to))
      listings.set(turn.turn, extendListing(listings.get(turn.turn) ?? new Map(), turn, span))
  }
  if (wrong.later === true)
    for (const [turn, listing] of listings)
      listings.set(turn, new Map([...listing].map(([path, listed]) => [path, { ...listed, later: [] }])))
  const removed = whole.turns.filter((turn) => endOf(turn, whole) <= last && !isListed(turn))
  const gap = { scan: last, turns: rememberRemoved(removed, whole.restores), listing: null }
  const gone = new Set(removed.map((turn) => turn.turn))
  const events = whole.events.filter((event) => event.scan > last)
  const cut = {
    ...whole,
    changes: whole.changes.filter((change) => change.scan > last),
    events,
    turns: whole.turns.filter((turn) => !gone.has(turn.turn)),
    restores: whole.restores.filter((restore) => events.some((event) => event.turn === restore.turn)),
    gap,
  }
  return { core, whole, cut, listings }
}

function kept(turn: TurnFacts) {
  return {
    turn: turn.turn,
    kind: turn.kind,
    beginScan: turn.beginScan,
    endedMs: 0,
    isPinned: false,
    isSent: true,
  }
}

/** What goes with one removal, as the store would find it. Stacks are as they are with the whole log. */
function spanOf(core: CoreWorkspace, whole: Log, from: number, to: number): RemovedSpan {
  const carriedOut = core.plans.filter((plan) => plan.refusal === null)
  const written = whole.events.flatMap((event, i) =>
    (carriedOut[i]?.steps ?? []).map((step) => ({ path: step.path, scan: event.scan, before: step.from })),
  )
  const isIn = (item: { readonly scan: number }): boolean => item.scan > from && item.scan <= to
  const live = [...liveStacks(whole.changes, whole.events)].map(
    ([path, stack]) => [path, stack.filter((change) => change.scan > from)] as const,
  )
  return {
    scan: to,
    changes: whole.changes.filter(isIn),
    written: written.filter(isIn),
    live: new Map(live),
    numberOf: (turn) => whole.turns.find((each) => each.turn === turn)?.number ?? 0,
  }
}

function randomRequest(random: SeededRandom, target: TurnFacts): PlanOptions {
  return {
    target: target.turn,
    scope: random.pick(['turn', 'from-turn', 'from-turn', 'session', 'all-sessions']),
    exact: random.chance(25),
    onConflict: random.pick(['keep', 'save', 'merge', 'fail']),
    paths: random.chance(20) ? ['d'] : null,
    hunks: null,
  }
}

/** What a person sees of a plan. Who else is undone is named by turn, and turns that are gone are not all named. */
function visible(plan: RestorePlan): string {
  return JSON.stringify([
    plan.refusal,
    // A parent that is made again has its last known mode, and that may be known from before the gap only.
    plan.steps.map(({ path, from, to, list }) => [
      path,
      from,
      from.kind !== 'dir' && to.kind === 'dir' ? 'dir' : to,
      list,
    ]),
    plan.settled.map(({ path }) => path),
    [...plan.kept, ...plan.keptDirectories].map(({ path, reason }) => [path, reason]),
    plan.skipped,
    [...new Set(plan.alsoUndoes.map(({ path }) => path))],
  ])
}

function planOrGap(input: PlanInput): RestorePlan | null {
  try {
    return planRestore(input)
  } catch (error) {
    if (error instanceof DomainError && error.code === 'HISTORY_GAP') return null
    throw error
  }
}

/** The log after the plan was carried out: what the next command plans with. */
function carryOut<L extends Log>(log: L, plan: RestorePlan, turn: `t_${string}`): L {
  const scan =
    1 + Math.max(0, ...[...log.changes, ...log.events, ...log.turns.map(toScan)].map((each) => each.scan))
  const settled = settleRestore(plan, ALL_DONE, undoneMarks(log.restores))
  const tree = new Map(log.tree)
  for (const step of plan.steps) {
    if (step.to.kind === 'absent') tree.delete(step.path)
    else tree.set(step.path, step.to)
  }
  const number = 1 + Math.max(...log.turns.map((each) => each.number))
  const facts: TurnFacts = {
    ...{ turn, number, kind: 'restore', session: null, beginScan: scan, hasChanges: true, paths: null },
  }
  const event: RestoreEvent = { turn, scan, ...settled.stack }
  const restore = {
    ...{ turn, number, target: plan.target, takenBack: plan.takenBack, of: settled.of },
    ...{ isWhole: plan.paths === null, status: settled.status },
  }
  return {
    ...log,
    tree,
    turns: [...log.turns, facts],
    events: [...log.events, event],
    restores: [...log.restores, restore],
  }
}

const toScan = (turn: TurnFacts) => ({ scan: turn.beginScan })

function topsThatAreNotThere(log: Log, core: Log): string[] {
  const wrong: string[] = []
  for (const [path, stack] of liveStacks(log.changes, log.events)) {
    const [top, present] = [stack.at(-1)?.after, stateIn(log.tree, path)]
    const wasRight = liveStacks(core.changes, core.events).get(path)?.at(-1)?.after
    const isHidden = wasRight !== undefined && !nothingToRecord(wasRight, stateIn(core.tree, path))
    if (top !== undefined && !isHidden && !nothingToRecord(top, present)) wrong.push(path)
  }
  return wrong
}

describe('a log whose beginning was removed', () => {
  it('plans as the whole log does, or says that it cannot; and so does taking that back', () => {
    const seen = { same: 0, gap: 0, listed: 0, back: 0 }
    for (let seed = 1; seed <= 1_500; seed++) {
      const made = makeCase(seed)
      if (made === null) continue
      const random = new SeededRandom(seed)
      for (const target of made.whole.turns.filter((turn) => turn.kind !== 'outside')) {
        const request = randomRequest(random, target)
        const gap = { ...made.cut.gap, listing: made.listings.get(target.turn) ?? null }
        const wanted = planRestore({ ...made.whole, request })
        const got = planOrGap({ ...made.cut, gap, request })
        if (got === null) {
          seen.gap++
          continue
        }
        const why = `seed ${seed} ${JSON.stringify(request)} gap ${gap.scan}`
        expect(visible(got), why).toBe(visible(wanted))
        const isListed = target.beginScan < gap.scan
        seen[isListed ? 'listed' : 'same']++
        if (got.refusal !== null) continue
        const [after, wholeAfter] = [carryOut(made.cut, got, 't_r'), carryOut(made.whole, wanted, 't_r')]
        expect(topsThatAreNotThere(after, made.whole), why).toEqual([])
        const back = { ...request, target: 't_r' as const, scope: 'from-turn' as const, paths: null }
        const [gotBack, wantedBack] = [
          planOrGap({ ...after, request: back }),
          planRestore({ ...wholeAfter, request: back }),
        ]
        expect(gotBack, why).not.toBeNull()
        const ways = (plan: RestorePlan | null) =>
          JSON.stringify(
            plan?.steps.map(({ path, from, to }) => [path, from.kind === 'dir' ? 'dir' : from, to]),
          )
        expect(ways(gotBack), why).toBe(ways(wantedBack))
        seen.back++
      }
    }
    expect(seen.same).toBeGreaterThan(2_500)
    expect(seen.gap).toBeGreaterThan(500)
    expect(seen.listed).toBeGreaterThan(500)
    expect(seen.back).toBeGreaterThan(2_500)
  }, 120_000)

  it('refuses only what needs the removed part', () => {
    for (let seed = 1; seed <= 500; seed++) {
      const made = makeCase(seed)
      if (made === null) continue
      for (const target of made.cut.turns.filter((turn) => turn.kind !== 'outside')) {
        const gap = { ...made.cut.gap, listing: made.listings.get(target.turn) ?? null }
        const isBefore = target.beginScan < gap.scan
        const request = { ...randomRequest(new SeededRandom(seed), target), scope: 'from-turn' as const }
        const got = planOrGap({ ...made.cut, gap, request })
        const isTakeBack = target.kind === 'restore'
        if (!isBefore || (!isTakeBack && isWork(target.kind)))
          expect(got, `seed ${seed} ${target.turn}`).not.toBeNull()
        if (isBefore && !isTakeBack)
          expect(planOrGap({ ...made.cut, gap: { ...gap, listing: null }, request })).toBeNull()
      }
      for (const { turn } of made.cut.gap.turns) {
        const request = { ...randomRequest(new SeededRandom(seed), { turn } as TurnFacts) }
        expect(planOrGap({ ...made.cut, request })).toBeNull()
      }
    }
  }, 60_000)

  it('a listing tells each path as it was at that moment', () => {
    let paths = 0
    for (let seed = 1; seed <= 500; seed++) {
      const made = makeCase(seed)
      if (made === null) continue
      for (const [turn, listing] of made.listings) {
        const target = made.whole.turns.find((each) => each.turn === turn)
        for (const [path, { state }] of listing) {
          // What no scan saw stands in no stack.
          if (made.core.wasHidden(path)) continue
          paths++
          const earlier = liveStacks(made.whole.changes, made.whole.events, target?.beginScan ?? 0).get(path)
          const known = earlier?.at(-1)?.after
          if (known !== undefined && known.kind !== 'skipped' && state.kind !== 'skipped')
            expect(equalStates(known, state), `seed ${seed} ${turn} ${path}`).toBe(true)
        }
      }
    }
    expect(paths).toBeGreaterThan(500)
  }, 60_000)

  it.each([
    ['cuts through turns', () => ({ turns: true })],
    ['cuts off what a restore took away', () => ({ restores: true })],
    ['lists nothing of what came after', () => ({ later: true })],
  ] as const)(
    'a design that %s differs',
    (_, wrong) => {
      let differing = 0
      for (let seed = 1; seed <= 400; seed++) {
        const made = makeCase(seed, wrong())
        if (made === null) continue
        const random = new SeededRandom(seed)
        for (const target of made.cut.turns.filter((turn) => turn.kind !== 'outside')) {
          const request = randomRequest(random, target)
          const gap = { ...made.cut.gap, listing: made.listings.get(target.turn) ?? null }
          const got = planOrGap({ ...made.cut, gap, request })
          // Refusing a taking back of what is in the log is wrong too.
          const isWrong =
            got === null
              ? target.kind === 'restore' && target.beginScan > gap.scan
              : visible(got) !== visible(planRestore({ ...made.whole, request }))
          if (isWrong) differing++
        }
      }
      expect(differing).toBeGreaterThan(2)
    },
    60_000,
  )
})
