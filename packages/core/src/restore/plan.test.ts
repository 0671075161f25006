import { describe, expect, it } from 'vitest'
import type { Change, RestoreEvent } from '#history/change.ts'
import type { RestoreFacts, TurnFacts } from '#history/turn-facts.ts'
import type { TurnId } from '#ids.ts'
import type { RelPath } from '#path/rel-path.ts'
import { textFile, textOf } from '#testing/index.ts'
import { byteString, bytesOf } from '#text/lines.ts'
import { ABSENT, type DirState, type SkippedState, type State } from '#tree/state.ts'
import { type PlanInput, type PlanOptions, planRestore } from './plan.ts'
import type { RestorePlan } from './restore-plan.ts'

const LINES = 'one\ntwo\nthree\nfour\nfive\nsix\n'
const f = (text: string, mode?: number): State => textFile(text, mode)
const dir: DirState = { kind: 'dir', mode: 0o755 }
const big: SkippedState = { kind: 'skipped', reason: 'too-large' }
const git: SkippedState = { kind: 'skipped', reason: 'nested-git-dir' }

/** A log written by hand: turns in order, each with its changes; a change's scan is its place in the log. */
class Log {
  readonly changes: Change[] = []
  readonly events: RestoreEvent[] = []
  readonly turns: TurnFacts[] = []
  readonly restores: RestoreFacts[] = []
  readonly tree = new Map<RelPath, State>()
  readonly lost = new Set<string>()
  #scan = 0

  turn(
    kind: TurnFacts['kind'],
    session: string | null,
    changed: Record<RelPath, [State, State]>,
    paths: TurnFacts['paths'] = null,
  ): TurnId {
    const number = this.turns.length + 1
    const turn: TurnId = `t_${number}`
    this.turns.push({ turn, number, kind, session, beginScan: this.#scan, hasChanges: true, paths })
    this.change(turn, changed)
    return turn
  }

  agent(session: string, changed: Record<RelPath, [State, State]>): TurnId {
    return this.turn('agent', session, changed)
  }

  person(changed: Record<RelPath, [State, State]>): TurnId {
    return this.turn('outside', null, changed)
  }

  /** One more scan of a turn that is known. */
  change(turn: TurnId, changed: Record<RelPath, [State, State]>, sharedBy: TurnId[] = []): void {
    this.#scan++
    const facts = this.turns.find((item) => item.turn === turn)
    if (facts === undefined) throw new Error(turn)
    for (const [path, [before, after]] of Object.entries(changed)) {
      const isShared = sharedBy.length > 0
      const source = isShared ? 'shared' : facts.kind === 'outside' ? 'outside' : 'tool'
      const { kind, session } = facts
      this.changes.push({
        path,
        scan: this.#scan,
        turn,
        kind,
        session: isShared ? null : session,
        source,
        sharedBy,
        before,
        after,
      })
      if (after.kind === 'absent') this.tree.delete(path)
      else this.tree.set(path, after)
    }
  }

  /** Carries a plan out that takes off and pushes nothing. */
  restore(plan: RestorePlan, target: TurnId): TurnId {
    for (const step of plan.steps) {
      if (step.to.kind === 'absent') this.tree.delete(step.path)
      else this.tree.set(step.path, step.to)
    }
    const turn = this.turn('restore', null, {})
    const popped = plan.steps.flatMap((step) => step.effect.popped)
    this.events.push({ turn, scan: this.#scan, popped, putBack: [], pushed: [] })
    const number = this.turns.length
    this.restores.push({ turn, number, target, takenBack: null, of: [target], isWhole: true, status: 'done' })
    return turn
  }

  plan(target: TurnId, options: Partial<PlanOptions> = {}): RestorePlan {
    return planRestore(this.input(target, options))
  }

  input(target: TurnId, options: Partial<PlanOptions> = {}): PlanInput {
    const { changes, events, turns, restores, tree } = this
    return {
      request: {
        target,
        scope: 'from-turn',
        exact: false,
        onConflict: 'keep',
        paths: null,
        hunks: null,
        ...options,
      },
      changes,
      events,
      turns,
      restores,
      tree,
      content: {
        hasBlob: (blob) => !this.lost.has(blob),
        readText: (blob) => (this.lost.has(blob) ? null : bytesOf(textOf(blob))),
        nameText: (_, bytes) => `p${byteString(bytes)}`,
        sha256: (bytes) => `${byteString(bytes).length.toString(16)}0000000`,
      },
    }
  }
}

const done = (plan: RestorePlan): string[] => plan.steps.map((step) => `${step.list} ${step.path}`)
const kept = (plan: RestorePlan): string[] => plan.kept.map((item) => `${item.path} ${item.reason}`)
const to = (plan: RestorePlan, path: RelPath): State | undefined =>
  plan.steps.find((step) => step.path === path)?.to

describe('a path that could not be looked at for a while, and then was as before', () => {
  const closed: SkippedState = { kind: 'skipped', reason: 'unreadable' }

  it('was changed by nobody: it goes back, and no edit is named', () => {
    const log = new Log()
    const t = log.agent('A', { a: [f('1'), f('2')] })
    log.person({ a: [f('2'), closed] })
    expect(kept(log.plan(t))).toEqual(['a not-captured'])
    log.person({ a: [closed, f('2')] })
    const plan = log.plan(t)
    expect([done(plan), plan.alsoUndoes, plan.steps[0]?.effect.popped.length]).toEqual([
      ['restored a'],
      [],
      3,
    ])
  })

  it('is given back by the undo of a restore, too', () => {
    const log = new Log()
    const t = log.agent('A', { a: [f('1'), f('2')] })
    const r = log.restore(log.plan(t), t)
    log.person({ a: [f('1'), closed] })
    log.person({ a: [closed, f('1')] })
    const plan = log.plan(r)
    expect([done(plan), to(plan, 'a')]).toEqual([['restored a'], f('2')])
    expect(plan.steps[0]?.effect.popped.length).toBe(2)
  })

  it('is a person’s when it came back as something else, or when its reason tells of a change', () => {
    const log = new Log()
    const t = log.agent('A', { a: [f('1'), f('2')], b: [f('1'), f('2')] })
    const large: SkippedState = { kind: 'skipped', reason: 'too-large' }
    log.person({ a: [f('2'), closed], b: [f('2'), large] })
    log.person({ a: [closed, f('3')], b: [large, f('2')] })
    expect(kept(log.plan(t))).toEqual(['a changed-after-turn', 'b changed-after-turn'])
  })
})

describe('a turn and the later ones of its session are undone', () => {
  it('the earliest before of the scope is wanted; what no turn touched is no part of the plan', () => {
    const log = new Log()
    log.tree.set('other', f('x'))
    const t1 = log.agent('A', { a: [f('1'), f('2')], n: [ABSENT, f('n')] })
    log.agent('A', { a: [f('2'), f('3')] })
    const plan = log.plan(t1)
    expect(done(plan)).toEqual(['restored a', 'deleted n'])
    expect(to(plan, 'a')).toEqual(f('1'))
    expect(plan.undoes).toEqual(['t_1', 't_2'])
    expect(plan.seen.map((item) => item.path)).toEqual(['a', 'n'])
  })

  it('present already as wanted: counted unchanged, popped if the top is in scope', () => {
    const log = new Log()
    const t1 = log.agent('A', { a: [f('1'), f('2')], b: [f('1'), f('2')] })
    log.agent('A', { a: [f('2'), f('1')] })
    log.person({ b: [f('2'), f('1')] })
    const plan = log.plan(t1)
    expect(plan.steps).toEqual([])
    expect(plan.settled.map((item) => [item.path, item.effect.popped.length])).toEqual([
      ['a', 2],
      ['b', 0],
    ])
    expect(plan.conflicts).toEqual([])
  })

  it('a before that was skipped is listed as skipped; an after that was skipped is kept under every option', () => {
    const log = new Log()
    const t1 = log.agent('A', { a: [big, f('2')], b: [f('1'), big] })
    for (const onConflict of ['keep', 'save', 'merge', 'fail'] as const) {
      const plan = log.plan(t1, { onConflict })
      expect(plan.skipped).toEqual([{ path: 'a', reason: 'too-large' }])
      expect(kept(plan)).toEqual(['b not-captured'])
      expect(plan.steps).toEqual([])
      expect(plan.refusal).toBeNull()
    }
  })
})

describe('a top out of scope is a conflict', () => {
  const log = new Log()
  const t1 = log.agent('A', {
    a: [f('1'), f('2')],
    b: [f('1'), f('2')],
    c: [f('x\ny\n'), f('x\nz\n')],
    d: [f('1'), f('2')],
    e: [f(LINES), f(LINES.replace('one', '1'))],
  })
  const tb = log.agent('B', { a: [f('2'), f('B')] })
  log.person({
    b: [f('2'), dir],
    c: [f('x\nz\n'), f('x\r\nz\r\n')],
    d: [f('2'), f('P')],
    e: [f(LINES.replace('one', '1')), f(LINES.replace('one', '1').replace('six', '6'))],
  })
  log.tree.set('b/mine', f('mine'))

  it('keep says why, and names whose change it is', () => {
    const plan = log.plan(t1)
    expect(plan.steps).toEqual([])
    expect(plan.kept).toEqual([
      { path: 'a', reason: 'owned-by-other-session', turn: tb, session: 'B' },
      { path: 'b', reason: 'type-changed', turn: 't_3' },
      { path: 'c', reason: 'line-endings-only', turn: 't_3' },
      { path: 'd', reason: 'changed-after-turn', turn: 't_3' },
      { path: 'e', reason: 'changed-after-turn', turn: 't_3' },
    ])
  })

  it('save pops it too, and names it', () => {
    const plan = log.plan(t1, { onConflict: 'save', paths: ['a', 'd'] })
    expect(done(plan)).toEqual(['restored a', 'restored d'])
    expect(plan.alsoUndoes).toEqual([
      { path: 'a', turn: tb },
      { path: 'd', turn: 't_3' },
    ])
  })

  it('merge takes the changes in scope out and pushes what came of it; unclean ones are kept', () => {
    const plan = log.plan(t1, { onConflict: 'merge' })
    expect(done(plan)).toEqual(['merged e'])
    const merged = f(LINES.replace('six', '6'))
    expect(to(plan, 'e')).toEqual(merged)
    expect(plan.steps[0]?.effect).toEqual({
      popped: [{ path: 'e', turn: t1, scan: 1 }],
      putBack: [],
      pushed: { before: log.tree.get('e'), after: merged },
    })
    expect(kept(plan)).toContain('d changed-after-turn')
  })

  it('fail does nothing at all', () => {
    const plan = log.plan(t1, { onConflict: 'fail' })
    expect(plan.refusal).toBe('CONFLICTS')
    expect([...plan.steps, ...plan.settled]).toEqual([])
    expect(plan.conflicts).toHaveLength(5)
  })
})

describe("a person's chmod alone", () => {
  it('is kept and is no conflict, also with fail', () => {
    const log = new Log()
    const t1 = log.agent('A', { a: [f('1'), f('2')] })
    log.person({ a: [f('2'), f('2', 0o755)] })
    const plan = log.plan(t1, { onConflict: 'fail' })
    expect(to(plan, 'a')).toEqual(f('1', 0o755))
    expect(plan.steps[0]?.effect.pushed).toEqual({ before: f('1'), after: f('1', 0o755) })
    expect(plan.alsoUndoes).toEqual([])
  })

  it('is a conflict when the path should be absent', () => {
    const log = new Log()
    const t1 = log.agent('A', { a: [ABSENT, f('2')] })
    log.person({ a: [f('2'), f('2', 0o755)] })
    expect(kept(log.plan(t1))).toEqual(['a changed-after-turn'])
    expect(done(log.plan(t1, { onConflict: 'save' }))).toEqual(['deleted a'])
  })
})

describe('changes between those in scope', () => {
  it("a person's is popped and named", () => {
    const log = new Log()
    const t1 = log.agent('A', { a: [f('1'), f('2')] })
    const p = log.person({ a: [f('2'), f('3')] })
    log.agent('A', { a: [f('3'), f('4')] })
    const plan = log.plan(t1)
    expect(to(plan, 'a')).toEqual(f('1'))
    expect(plan.alsoUndoes).toEqual([{ path: 'a', turn: p }])
  })

  it("another session's keeps the path, unless all sessions are in scope", () => {
    const log = new Log()
    const t1 = log.agent('A', { a: [f('1'), f('2')] })
    const tb = log.agent('B', { a: [f('2'), f('3')] })
    log.agent('A', { a: [f('3'), f('4')] })
    expect(log.plan(t1).kept).toEqual([
      { path: 'a', reason: 'interleaved-with-other-session', turn: tb, session: 'B' },
    ])
    expect(to(log.plan(t1, { scope: 'all-sessions' }), 'a')).toEqual(f('1'))
  })

  it('shared ones are kept, and undone with all sessions', () => {
    const log = new Log()
    const t1 = log.agent('A', { a: [f('1'), f('2')] })
    const tb = log.agent('B', {})
    log.change(t1, { a: [f('2'), f('3')], s: [f('1'), f('2')] }, [t1, tb])
    expect(kept(log.plan(t1))).toEqual(['a shared', 's shared'])
    expect(kept(log.plan(tb))).toEqual(['a shared', 's shared'])
    expect(log.plan(t1, { onConflict: 'fail' }).refusal).toBe('CONFLICTS')
    expect(done(log.plan(t1, { scope: 'all-sessions' }))).toEqual(['restored a', 'restored s'])
  })
})

describe('what is lost or unknown', () => {
  it('a missing blob keeps its path and what stands in its way, and nothing else', () => {
    const log = new Log()
    log.tree.set('conf', dir)
    const t1 = log.agent('A', {
      a: [f('1'), f('2')],
      conf: [f('c'), dir],
      'conf/x': [ABSENT, f('x')],
      g: [f('g'), ABSENT],
    })
    log.lost.add('pc').add('pg')
    const plan = log.plan(t1)
    expect(done(plan)).toEqual(['restored a'])
    expect(kept(plan)).toEqual(['conf missing-blob', 'conf/x missing-blob', 'g missing-blob'])
  })

  it('a path below a directory that is now skipped is not captured, and not absent', () => {
    const log = new Log()
    const t1 = log.agent('A', { 'd/x': [ABSENT, f('2')] })
    log.tree.delete('d/x')
    log.tree.set('d', { kind: 'skipped', reason: 'excluded-directory' })
    expect(kept(log.plan(t1))).toEqual(['d/x not-captured'])
  })

  it('a path that changed where no scan could see is kept', () => {
    const log = new Log()
    const t1 = log.agent('A', { a: [ABSENT, f('2')] })
    log.tree.set('a', f('who wrote this?'))
    expect(kept(log.plan(t1, { onConflict: 'save' }))).toEqual(['a unknown-writer'])
  })

  it('a directory in which the work made a repository is kept whole', () => {
    const log = new Log()
    const t1 = log.agent('A', {
      r: [ABSENT, dir],
      'r/.git': [ABSENT, git],
      'r/f': [ABSENT, f('1')],
      'r/s': [ABSENT, dir],
      'r/s/g': [ABSENT, f('2')],
      a: [f('1'), f('2')],
    })
    const plan = log.plan(t1)
    expect(done(plan)).toEqual(['restored a'])
    expect(plan.skipped).toEqual([{ path: 'r/.git', reason: 'nested-git-dir' }])
    expect(kept(plan)).toEqual(['r/f not-captured', 'r/s/g not-captured'])
    expect(plan.keptDirectories.map((item) => item.path)).toEqual(['r', 'r/s'])
    expect(kept(log.plan(t1, { paths: ['r/f'] }))).toEqual(['r/f not-captured'])
  })

  it('git init at the root protects nothing but itself', () => {
    const log = new Log()
    const t1 = log.agent('A', { '.git': [ABSENT, git], a: [f('1'), f('2')] })
    expect(done(log.plan(t1))).toEqual(['restored a'])
    expect(log.plan(t1).skipped).toEqual([{ path: '.git', reason: 'nested-git-dir' }])
  })

  it('a path that no tree may hold is never written', () => {
    const log = new Log()
    const t1 = log.agent('A', { 'x/../../b': [f('1'), f('2')], '.git/config': [f('1'), f('2')] })
    expect(kept(log.plan(t1))).toEqual(['.git/config outside-workspace', 'x/../../b outside-workspace'])
  })
})

describe('directories', () => {
  it('go only when nothing stays in them, and are no conflict', () => {
    const log = new Log()
    const t1 = log.agent('A', {
      d: [ABSENT, dir],
      'd/n': [ABSENT, f('n')],
      e: [ABSENT, dir],
      'e/n': [ABSENT, f('n')],
    })
    log.person({ 'e/mine': [ABSENT, f('mine')] })
    const plan = log.plan(t1, { onConflict: 'fail' })
    expect(done(plan)).toEqual(['deleted d/n', 'deleted e/n', 'directories.deleted d'])
    expect(plan.keptDirectories.map((item) => item.path)).toEqual(['e'])
    expect(plan.kept).toEqual([])
  })

  it('a file replaced by a directory and the reverse come back in an order that works', () => {
    const log = new Log()
    log.tree.set('conf', dir)
    const t1 = log.agent('A', {
      conf: [f('c'), dir],
      'conf/deep': [ABSENT, dir],
      'conf/deep/x': [ABSENT, f('x')],
      data: [dir, f('now a file')],
      'data/1': [f('1'), ABSENT],
      'data/deep': [dir, ABSENT],
      'data/deep/2': [f('2'), ABSENT],
    })
    const plan = log.plan(t1)
    expect(plan.steps.map((step) => `${step.phase} ${step.path}`)).toEqual([
      'room conf/deep/x',
      'room conf/deep',
      'create conf',
      'create data',
      'create data/1',
      'create data/deep',
      'create data/deep/2',
    ])
  })

  it("a file whose place a directory with a person's file has taken is kept, the others go on", () => {
    const log = new Log()
    const t1 = log.agent('A', { a: [f('1'), f('2')], b: [f('1'), dir], 'b/agent': [ABSENT, f('x')] })
    log.person({ 'b/mine': [ABSENT, f('mine')] })
    const plan = log.plan(t1)
    expect(kept(plan)).toEqual(['b directory-not-empty'])
    expect(done(plan)).toEqual(['restored a', 'deleted b/agent'])
  })

  it('a missing parent is made with its last mode and pushed', () => {
    const log = new Log()
    const closed: DirState = { kind: 'dir', mode: 0o700 }
    const t1 = log.agent('A', { 'd/x': [f('1'), f('2')] })
    log.person({ d: [closed, ABSENT], 'd/x': [f('2'), ABSENT] })
    const plan = log.plan(t1, { onConflict: 'save' })
    expect(done(plan)).toEqual(['directories.restored d', 'restored d/x'])
    expect(plan.steps[0]).toMatchObject({
      to: closed,
      effect: { popped: [], pushed: { before: ABSENT, after: closed } },
    })
  })

  it('a parent that is no directory blocks', () => {
    const log = new Log()
    const t1 = log.agent('A', { 'd/x': [f('1'), f('2')] })
    log.person({ d: [dir, f('now a file')], 'd/x': [f('2'), ABSENT] })
    expect(kept(log.plan(t1, { onConflict: 'save' }))).toEqual(['d/x blocked-by-parent'])
  })
})

describe('--only', () => {
  const base = LINES
  const byT1 = LINES.replace('one', '1')
  const byBoth = byT1.replace('six', '6')

  it('merges where later changes exist, and leaves them', () => {
    const log = new Log()
    const t1 = log.agent('A', { a: [f(base), f(byT1)], m: [f('m'), f('m', 0o755)] })
    log.agent('A', { a: [f(byT1), f(byBoth)], m: [f('m', 0o755), f('M', 0o755)] })
    const plan = log.plan(t1, { scope: 'turn' })
    expect(done(plan)).toEqual(['merged a', 'merged m'])
    expect(to(plan, 'a')).toEqual(f(base.replace('six', '6')))
    expect(to(plan, 'm')).toEqual(f('M'))
    expect(plan.undoes).toEqual([t1])
  })

  it('created and later edited, deleted and made again: kept; deleted and not made again: restored', () => {
    const log = new Log()
    const t1 = log.agent('A', { made: [ABSENT, f('1')], again: [f('old'), ABSENT], gone: [f('old'), ABSENT] })
    const t2 = log.agent('A', { made: [f('1'), f('2')], again: [ABSENT, f('new')] })
    const plan = log.plan(t1, { scope: 'turn' })
    expect(done(plan)).toEqual(['restored gone'])
    expect(plan.kept).toEqual([
      { path: 'again', reason: 'changed-after-turn', turn: t2, session: 'A' },
      { path: 'made', reason: 'changed-after-turn', turn: t2, session: 'A' },
    ])
  })
})

describe('scopes', () => {
  it('a session is undone whole; an outside turn cannot be asked for', () => {
    const log = new Log()
    log.agent('A', { a: [f('1'), f('2')] })
    const p = log.person({ p: [f('1'), f('2')] })
    const t3 = log.agent('A', { b: [f('1'), f('2')] })
    log.agent('B', { c: [f('1'), f('2')] })
    expect(done(log.plan(t3, { scope: 'session' }))).toEqual(['restored a', 'restored b'])
    expect(done(log.plan(t3))).toEqual(['restored b'])
    expect(done(log.plan(t3, { scope: 'all-sessions' }))).toEqual(['restored b', 'restored c'])
    expect(() => log.plan(p)).toThrow(expect.objectContaining({ code: 'NOT_RESTORABLE' }))
    expect(() => log.plan('t_99')).toThrow(expect.objectContaining({ code: 'TURN_NOT_FOUND' }))
  })

  it('exact adds what nobody owns since the turn began, on other paths too, and nobody else’s work', () => {
    const log = new Log()
    log.person({ before: [f('1'), f('2')] })
    const t2 = log.agent('A', { a: [f('1'), f('2')] })
    log.person({ a: [f('2'), f('3')], mine: [ABSENT, f('mine')] })
    log.agent('B', { b: [f('1'), f('2')] })
    const plan = log.plan(t2, { exact: true })
    expect(done(plan)).toEqual(['restored a', 'deleted mine'])
  })

  it('a checkpoint returns its paths to that moment, keeps later edits of a person, and marks partly', () => {
    const log = new Log()
    const t1 = log.agent('A', { a: [f('1'), f('2')] })
    const c = log.turn('checkpoint', null, {}, ['a', 'd'])
    log.change(t1, { a: [f('2'), f('3')], b: [f('1'), f('2')] })
    log.tree.set('d', dir)
    log.agent('B', { 'd/x': [f('1'), f('2')], 'd/y': [f('1'), f('2')] })
    log.person({ 'd/y': [f('2'), f('3')] })
    const plan = log.plan(c)
    expect(done(plan)).toEqual(['restored a', 'restored d/x'])
    expect(to(plan, 'a')).toEqual(f('2'))
    expect(kept(plan)).toEqual(['d/y changed-after-turn'])
    expect(plan.paths).toEqual(['a', 'd'])
    expect(plan.alsoUndoes).toEqual([{ path: 'a', turn: t1 }])
  })
})

describe('taking a restore back', () => {
  it('puts back what it popped where the stack is as it left it; other paths are conflicts', () => {
    const log = new Log()
    const t1 = log.agent('A', { a: [f('1'), f('2')], b: [f('1'), f('2')], n: [ABSENT, f('n')] })
    const plan = log.plan(t1)
    const r = log.restore(plan, t1)
    log.change(log.person({}), { b: [f('1'), f('edited')] })
    const back = log.plan(r)
    expect(done(back)).toEqual(['restored a', 'restored n'])
    expect(kept(back)).toEqual(['b changed-after-turn'])
    expect(back.takenBack).toBe(r)
    expect(back.undoes).toEqual([])
    expect(back.steps[0]?.effect).toEqual({
      popped: [],
      putBack: [{ path: 'a', turn: t1, scan: 1 }],
      pushed: null,
    })
  })
})

describe('hunks', () => {
  it('one hunk is taken out of the present text; nothing is popped', () => {
    const long = Array.from({ length: 30 }, (_, i) => `line ${i}\n`).join('')
    const changed = long.replace('line 2\n', 'TWO\n').replace('line 25\n', 'TWENTY-FIVE\n')
    const now = changed.replace('line 15\n', 'mine\n')
    const log = new Log()
    const t1 = log.agent('A', { a: [f(long), f(changed)] })
    log.person({ a: [f(changed), f(now)] })
    const input = log.input(t1)
    const ids: string[] = []
    const sha256 = (bytes: Uint8Array): string => {
      const id = byteString(bytes).includes('TWO') ? 'aaaaaaaa' : 'bbbbbbbb'
      ids.push(id)
      return id
    }
    const hunks = [{ path: 'a', id: 'aaaaaaaa' }]
    const plan = planRestore({
      ...input,
      content: { ...input.content, sha256 },
      request: { ...input.request, hunks },
    })
    expect(to(plan, 'a')).toEqual(f(now.replace('TWO\n', 'line 2\n')))
    expect(plan.steps[0]?.effect.popped).toEqual([])
    expect(plan.paths).toEqual(['a'])
    expect(ids).toContain('bbbbbbbb')
    const unknown = { ...input.request, hunks: [{ path: 'a', id: 'cccccccc' }] }
    expect(() => planRestore({ ...input, request: unknown })).toThrow(
      expect.objectContaining({ code: 'VALIDATION_FAILED' }),
    )
  })
})

describe('many paths', () => {
  it('of 5,000 paths each is planned as it would be alone', () => {
    const log = new Log()
    const changed: Record<RelPath, [State, State]> = {}
    for (let i = 0; i < 5_000; i++)
      changed[`src/part-${i % 50}/file-${i}.ts`] = i % 3 === 0 ? [ABSENT, f(`${i}`)] : [f(`${i}`), f(`${i}!`)]
    for (let i = 0; i < 50; i++) log.tree.set(`src/part-${i}`, dir)
    log.tree.set('src', dir)
    const t1 = log.agent('A', changed)
    log.agent(
      'A',
      Object.fromEntries(Object.entries(changed).map(([path, [, after]]) => [path, [after, f('last')]])),
    )
    const { steps } = log.plan(t1)
    expect(steps).toHaveLength(5_000)
    for (const { path, to } of steps) expect(to).toEqual(changed[path]?.[0])
  })
})

describe('a restore that is limited', () => {
  it('marks the turns that lose something by it, and no other of its scope', () => {
    const log = new Log()
    const t1 = log.agent('A', { a: [f('1'), f('2')], b: [f('1'), f('2')] })
    log.agent('A', { c: [f('1'), f('2')] })
    log.agent('A', { a: [f('2'), f('3')] })
    log.person({ b: [f('2'), f('3')] })
    expect(log.plan(t1, { paths: ['a'] }).undoes).toEqual(['t_1', 't_3'])
    expect(log.plan(t1, { paths: ['b'] }).undoes, 'its one path stays').toEqual([])
    expect(log.plan(t1, { paths: ['a', 'c'] }).undoes).toEqual(['t_1', 't_2', 't_3'])
    expect(log.plan(t1).undoes, 'without a limit the whole scope is covered').toEqual(['t_1', 't_2', 't_3'])
  })

  it('of a shared change: every turn that shares it', () => {
    const log = new Log()
    const t1 = log.agent('A', { x: [f('1'), f('2')] })
    const t2 = log.agent('B', { y: [f('1'), f('2')] })
    log.change(t1, { a: [f('1'), f('2')] }, [t1, t2])
    const plan = log.plan(t1, { paths: ['a'], scope: 'all-sessions' })
    expect(plan.undoes).toEqual(['t_1', 't_2'])
    expect(plan.losses).toEqual([{ path: 'a', turns: ['t_1', 't_2'] }])
  })

  it('a hunk is one turn’s own, whatever scope is said; a checkpoint and a restore have none', () => {
    const log = new Log()
    const t1 = log.agent('A', { a: [f('one\n'), f('ONE\n')] })
    log.agent('A', { b: [f('1'), f('2')] })
    const id = '16000000'
    const plan = log.plan(t1, { hunks: [{ path: 'a', id }] })
    expect([plan.undoes, plan.turns, plan.scope]).toEqual([['t_1'], ['t_1'], 'turn'])
    const point = log.turn('checkpoint', null, {})
    expect(() => log.plan(point, { hunks: [{ path: 'a', id }] })).toThrow(/kind checkpoint/)
  })
})

describe('another kind of thing in a path’s place', () => {
  const link: State = { kind: 'symlink', target: 'x' }
  it.each<[string, [State, State], State, string]>([
    ['a link for a file', [f('1'), f('2')], link, 'type-changed'],
    ['a file again, after the turn had deleted it', [f('1'), ABSENT], f('3'), 'changed-after-turn'],
    ['a directory, after the turn had deleted a file', [f('1'), ABSENT], dir, 'type-changed'],
    ['nothing any more', [f('1'), f('2')], ABSENT, 'changed-after-turn'],
  ])('%s', (_, own, later, reason) => {
    const log = new Log()
    const t1 = log.agent('A', { p: own })
    log.person({ p: [own[1], later] })
    expect(kept(log.plan(t1))).toEqual([`p ${reason}`])
  })
})

describe('the files of one database', () => {
  const db = (text: string): State => f(`SQLite format 3\0${text}`)

  it('stay together when one of them stays', () => {
    const log = new Log()
    const t1 = log.agent('A', {
      'x.db': [db('1'), db('2')],
      'x.db-wal': [f('w1'), f('w2')],
      y: [f('1'), f('2')],
    })
    log.person({ 'x.db-wal': [f('w2'), f('w3')] })
    const plan = log.plan(t1)
    expect(done(plan)).toEqual(['restored y'])
    expect(kept(plan)).toEqual(['x.db changed-after-turn', 'x.db-wal changed-after-turn'])
    expect(plan.conflicts.map((item) => item.path)).toEqual(['x.db', 'x.db-wal'])
    expect(done(log.plan(t1, { onConflict: 'save' }))).toEqual([
      'restored x.db',
      'restored x.db-wal',
      'restored y',
    ])
  })

  it('and when a log beside it came only after the turn, whose pages would be put into the old file', () => {
    const log = new Log()
    const t1 = log.agent('A', { 'x.db': [db('1'), db('2')] })
    log.person({ 'x.db-wal': [ABSENT, f('w')] })
    expect(done(log.plan(t1))).toEqual([])
    expect(kept(log.plan(t1))).toEqual(['x.db changed-after-turn'])
    expect(done(log.plan(t1, { exact: true }))).toEqual(['deleted x.db-wal', 'restored x.db'])
  })

  it('a log that is as it was before the turn stands in no way', () => {
    const log = new Log()
    log.person({ 'x.db-wal': [ABSENT, f('w')] })
    const t1 = log.agent('A', { 'x.db': [db('1'), db('2')] })
    expect(done(log.plan(t1))).toEqual(['restored x.db'])
  })

  it('are named by the name of any of them; files that only look alike are not', () => {
    const log = new Log()
    const t1 = log.agent('A', {
      ...{ 'x.db': [db('1'), db('2')], 'x.db-wal': [f('1'), f('2')], 'n-wal': [f('1'), f('2')] },
      n: [f('1'), f('2')],
    })
    expect(done(log.plan(t1, { paths: ['x.db-wal'] }))).toEqual(['restored x.db', 'restored x.db-wal'])
    expect(done(log.plan(t1, { paths: ['n'] }))).toEqual(['restored n'])
    log.person({ 'n-wal': [f('2'), f('3')] })
    expect(done(log.plan(t1))).toEqual(['restored n', 'restored x.db', 'restored x.db-wal'])
  })
})

describe('on a disk that ignores letter case', () => {
  const plan = (log: Log, target: TurnId): RestorePlan =>
    planRestore({ ...log.input(target), ignoresCase: true })
  const order = (made: RestorePlan): string[] => made.steps.map((step) => `${step.phase} ${step.path}`)

  it('a rename of case only is taken back as one: what goes makes room for what comes', () => {
    const log = new Log()
    const t1 = log.agent('A', {
      ...{
        'Readme.md': [f('x'), ABSENT],
        'README.md': [ABSENT, f('x')],
        Src: [dir, ABSENT],
        src: [ABSENT, dir],
      },
      ...{ 'Src/Main.txt': [f('m'), ABSENT], 'src/main.txt': [ABSENT, f('m')], other: [ABSENT, f('o')] },
    })
    expect(order(plan(log, t1))).toEqual([
      ...['room src/main.txt', 'room src', 'room README.md'],
      ...['create Readme.md', 'create Src', 'create Src/Main.txt', 'delete other'],
    ])
    expect(order(log.plan(t1)), 'elsewhere they are two names').toEqual([
      ...['create Readme.md', 'create Src', 'create Src/Main.txt'],
      ...['delete README.md', 'delete other', 'delete src/main.txt', 'rmdir src'],
    ])
  })

  it('where the one stays the other is not written over it, and nothing goes for it', () => {
    const log = new Log()
    const t1 = log.agent('A', {
      ...{ Src: [dir, ABSENT], src: [ABSENT, dir], 'Src/a': [f('a'), ABSENT], 'src/A': [ABSENT, f('a')] },
      ...{ gone: [f('g'), ABSENT], x: [f('1'), f('2')] },
    })
    log.person({ 'src/mine': [ABSENT, f('m')], GONE: [ABSENT, f('new')] })
    const made = plan(log, t1)
    expect(order(made)).toEqual(['create x'])
    expect(kept(made)).toEqual(['Src/a attributes', 'gone attributes', 'src/A attributes'])
  })
})
