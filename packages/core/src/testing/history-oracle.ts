import type { ConflictChoice } from '#command/messages.ts'
import type { RelPath } from '#path/rel-path.ts'
import type { State } from '#tree/state.ts'
import type { CommandOutcome } from './core-workspace.ts'
import type { HistoryOp } from './history-ops.ts'
import { applyEdit, type MemoryTree } from './memory-tree.ts'
import { judge, OracleStore } from './oracle-judge.ts'
import {
  bytesThatGo,
  type Done,
  fresh,
  hiddenBy,
  ids,
  isKept,
  isNamed,
  NOWHERE,
  namesPath,
  nothing,
  type OpenTurn,
  type Rec,
  type Request,
  type Turn,
  verdictBack,
  type Wish,
  wordsOf,
} from './oracle-records.ts'
import { keepRepositories, settleParents, settleRoom } from './oracle-surroundings.ts'

/**
 * The rules of history told a second time, as simply as they can be: lists are changed in place, every restore
 * keeps whole copies of what was before and after it, and what is to happen in the tree is found by trying
 * until nothing changes any more. It shares no code with history/ and restore/, and is slow where it helps.
 */
export class HistoryOracle {
  readonly tree: MemoryTree = new Map()
  readonly live = new Map<RelPath, Rec[]>()
  readonly turns: Turn[] = []
  readonly done: Done[] = []
  #lastSeen: MemoryTree
  /** What each path was when it was first seen to change. */
  readonly #start = new Map<RelPath, State>()
  #open: OpenTurn[] = []
  #clock = 0
  readonly #isGone: (blob: string) => boolean

  constructor(start: Iterable<readonly [RelPath, State]>, isGone: (blob: string) => boolean) {
    for (const [path, state] of start) this.tree.set(path, state)
    this.#lastSeen = new Map(this.tree)
    this.#isGone = isGone
  }

  apply(op: HistoryOp): CommandOutcome | null {
    if (op.op === 'edit') {
      this.#edit(op)
      return null
    }
    if (op.op === 'esc') {
      for (const open of this.#open) if (open.session === op.session) open.late ??= new Set()
      return null
    }
    if (op.op === 'begin' || op.op === 'end') {
      this.#close(op.session, op.op === 'begin')
      if (op.op === 'begin') this.#begin(op.session)
      return null
    }
    this.#look(op.op === 'checkpoint' ? [] : this.#open)
    if (op.op === 'checkpoint') {
      this.#turn('checkpoint', null, op.paths)
      return null
    }
    this.#open = []
    if (op.op === 'undo') return this.#undo(op.session, op.onConflict)
    if (op.op === 'redo') return this.#redo()
    const named = this.turns.filter((turn) => turn.kind !== 'outside')
    const target = named[named.length - 1 - op.back]
    return target === undefined ? nothing() : this.#restore(target, op)
  }

  #edit({ edit, tool }: Extract<HistoryOp, { op: 'edit' }>): void {
    const before = new Map(this.tree)
    applyEdit(this.tree, edit)
    for (const open of this.#open) {
      if (open.session === tool) open.tools.add(edit.path)
      for (const path of new Set([...before.keys(), ...this.tree.keys()]))
        if (before.get(path) !== this.tree.get(path)) open.late?.add(path)
    }
  }

  #begin(session: number): void {
    this.#look([])
    const turn = this.#turn('agent', `s${session}`, null)
    this.#open.push({ turn, session, tools: new Set(), late: null })
  }

  /** @param isByUs its agent sent no end */
  #close(session: number, isByUs: boolean): void {
    const closing = this.#open.filter((open) => open.session === session)
    if (closing.length > 0) this.#look(isByUs ? closing : [])
    this.#open = this.#open.filter((open) => open.session !== session)
  }

  marks(): [string, string][] {
    return this.turns
      .filter((turn) => turn.kind === 'agent')
      .map((turn) => [`t_${turn.number}`, this.#mark(turn.number)])
  }

  #turn(kind: Turn['kind'], session: string | null, paths: Turn['paths']): Turn {
    const turn = { number: this.turns.length + 1, kind, session, start: this.#clock, changed: false, paths }
    this.turns.push(turn)
    return turn
  }

  /** @param closing turns that are closed by this look and were not ended by their agents */
  #look(closing: readonly OpenTurn[]): void {
    this.#clock++
    const paths = [...new Set([...this.#lastSeen.keys(), ...this.tree.keys()])].sort()
    let outside: Turn | null = null
    for (const path of paths) {
      const before = this.#lastSeen.get(path) ?? NOWHERE
      const after = this.tree.get(path) ?? NOWHERE
      if (JSON.stringify(before) === JSON.stringify(after) || this.#isHidden(path)) continue
      if (!this.#start.has(path)) this.#start.set(path, before)
      const rec: Rec = { id: this.#clock, turns: [], kind: 'person', session: null, before, after }
      this.#giveToOpenTurns(rec, path, closing)
      if (rec.turns.length === 0) {
        outside ??= this.#turn('outside', null, null)
        rec.turns = [outside.number]
      }
      this.live.set(path, [...(this.live.get(path) ?? []), rec])
    }
    for (const open of this.#open) open.tools = new Set()
    this.#lastSeen = new Map(this.tree)
  }

  #giveToOpenTurns(rec: Rec, path: RelPath, closing: readonly OpenTurn[]): void {
    const users = this.#open.filter((open) => namesPath(open.tools, path, rec.before, rec.after))
    const able = this.#open.filter((open) => !(closing.includes(open) && open.late?.has(path)))
    const owners = users.length > 0 ? users : able
    if (owners.length === 0) return
    rec.turns = owners.map((open) => open.turn.number)
    rec.kind = owners.length === 1 ? 'agent' : 'shared'
    rec.session = owners.length === 1 ? (owners[0]?.turn.session ?? null) : null
    for (const open of owners) open.turn.changed = true
  }

  #isHidden(path: RelPath): boolean {
    return hiddenBy(this.#lastSeen, path) !== null || hiddenBy(this.tree, path) !== null
  }

  #now(path: RelPath): State {
    return this.tree.get(path) ?? hiddenBy(this.tree, path) ?? NOWHERE
  }

  // ---- undo, redo, marks

  #isStanding(restore: Done): boolean {
    const takers = this.done.filter((other) => other.takes === restore.number && other.whole)
    return !takers.some((taker) => this.#isStanding(taker))
  }

  #mark(turn: number): string {
    const by = this.done.filter((restore) => restore.of.includes(turn) && this.#isStanding(restore))
    if (by.some((restore) => restore.whole)) return 'yes'
    return by.length > 0 ? 'partly' : 'no'
  }

  #undo(session: number | null, onConflict: ConflictChoice): CommandOutcome {
    const open = this.turns.filter((turn) => turn.kind === 'agent' && this.#mark(turn.number) !== 'yes')
    const target = open.filter((turn) => session === null || turn.session === `s${session}`).pop()
    if (target === undefined) return nothing()
    return this.#restore(target, { scope: 'from-turn', exact: false, onConflict, paths: null })
  }

  #redo(): CommandOutcome {
    for (const turn of this.turns.toReversed()) {
      if (turn.kind === 'agent' && turn.changed) return nothing()
      const restore = this.done.find((item) => item.number === turn.number)
      if (restore === undefined || restore.takes !== null || !this.#isStanding(restore)) continue
      return this.#restore(turn, { scope: 'from-turn', exact: false, onConflict: 'keep', paths: null })
    }
    return nothing()
  }

  // ---- restore

  #restore(target: Turn, request: Request): CommandOutcome {
    const restored = this.done.find((item) => item.number === target.number)
    const store = new OracleStore(this.#isGone)
    const wishes = restored === undefined ? this.#wishes(target, request, store) : this.#wishesBack(restored)
    keepRepositories(wishes)
    for (const path of [...wishes.keys()]) if (!isNamed(path, request.paths)) wishes.delete(path)
    for (const wish of wishes.values()) {
      if (wish.verdict !== 'go') continue
      if (wish.want.kind === 'file' && store.isLost(wish.want.blob)) wish.verdict = 'missing-blob'
      const goes = bytesThatGo(wish)
      if (goes !== null && store.isLost(goes)) wish.verdict = 'missing-blob'
    }
    settleRoom(wishes, this.tree)
    const made = settleParents(wishes, this.tree, this.live)
    const conflicts = [...wishes].filter(([, wish]) => wish.isConflict && isKept(wish) && !made.has(wish))
    if (request.onConflict === 'fail' && conflicts.length > 0) {
      return { status: 'refused', lines: conflicts.map(([path]) => path).sort() }
    }
    const turns = restored === undefined ? this.#turnsOf(target, request) : []
    return this.#carryOut(target, restored ?? null, request, wishes, turns)
  }

  #turnsOf(target: Turn, { scope }: Request): number[] {
    const later = this.turns.filter((turn) => turn.kind === 'agent' && turn.number >= target.number)
    if (target.kind === 'checkpoint' || scope === 'all-sessions') return later.map((turn) => turn.number)
    if (scope === 'turn') return [target.number]
    const pool = scope === 'session' ? this.turns.filter((turn) => turn.kind === 'agent') : later
    return pool.filter((turn) => turn.session === target.session).map((turn) => turn.number)
  }

  #isMine(rec: Rec, path: RelPath, target: Turn, request: Request, turns: number[]): boolean {
    const isCheckpoint = target.kind === 'checkpoint'
    if (isCheckpoint && !isNamed(path, target.paths)) return false
    if (rec.kind !== 'agent' && request.exact && rec.id > target.start) return true
    if (rec.kind === 'person') return false
    if (isCheckpoint) return rec.id > target.start
    if (rec.kind === 'shared' && request.scope !== 'all-sessions') return false
    return rec.turns.some((turn) => turns.includes(turn))
  }

  #wishes(target: Turn, request: Request, store: OracleStore): Map<RelPath, Wish> {
    const turns = this.#turnsOf(target, request)
    const everyone = target.kind === 'checkpoint' || request.scope === 'all-sessions'
    const only = target.kind !== 'checkpoint' && request.scope === 'turn'
    const wishes = new Map<RelPath, Wish>()
    for (const [path, recs] of this.live) {
      const mine = recs.map((rec) => this.#isMine(rec, path, target, request, turns))
      const low = mine.indexOf(true)
      if (low < 0) {
        const shared = recs.find(
          (rec) => rec.kind === 'shared' && rec.turns.some((turn) => turns.includes(turn)),
        )
        if (shared !== undefined && !everyone) wishes.set(path, this.#leaveShared(path, recs, shared))
        continue
      }
      const high = mine.lastIndexOf(true)
      const from = this.#now(path)
      const want = recs[low]?.before ?? NOWHERE
      const isNews = (rec: Rec, i: number): boolean =>
        !mine[i] || (rec.kind !== 'person' && !rec.turns.some((turn) => turns.includes(turn)))
      const news = recs.map((rec, i) => (isNews(rec, i) ? (rec.turns[0] ?? 0) : 0))
      const also = news.slice(low).filter((turn) => turn > 0)
      const wish: Wish = {
        from,
        want,
        list: recs.slice(0, low),
        also,
        verdict: 'go',
        by: '',
        isConflict: false,
        isMerge: false,
      }
      wishes.set(path, wish)
      const above = recs.slice(high + 1)
      if (
        from.kind !== 'skipped' &&
        want.kind !== 'skipped' &&
        JSON.stringify(recs.at(-1)?.after) !== JSON.stringify(from)
      ) {
        Object.assign(wish, { verdict: 'unknown-writer', isConflict: true })
        continue
      }
      if (from.kind !== 'skipped' && JSON.stringify(from) === JSON.stringify(want)) {
        wish.verdict = 'unchanged'
        if (above.length > 0) Object.assign(wish, { list: recs, also: [] })
        else this.#fillGap(path, wish)
        continue
      }
      if (want.kind === 'skipped') wish.verdict = 'skipped'
      else if (from.kind === 'skipped') wish.verdict = 'not-captured'
      else judge(wish, { recs, mine, news, low, high, above, everyone, only, target, request }, store)
      this.#fillGap(path, wish)
    }
    return wishes
  }

  /** What several open turns did together stays, and each of them says so. */
  #leaveShared(path: RelPath, recs: Rec[], shared: Rec): Wish {
    const [from, want] = [this.#now(path), shared.before]
    const wish: Wish = {
      from,
      want,
      list: recs,
      also: [],
      verdict: 'shared',
      by: '',
      isConflict: false,
      isMerge: false,
    }
    if (want.kind === 'skipped') wish.verdict = 'skipped'
    else if (from.kind === 'skipped') wish.verdict = 'not-captured'
    else if (JSON.stringify(from) === JSON.stringify(want)) wish.verdict = 'unchanged'
    else Object.assign(wish, { by: `t_${shared.turns[0]}`, isConflict: true })
    return wish
  }

  /** Where a list of live changes does not end in what the path is to be, the restore's own change says so. */
  #fillGap(path: RelPath, wish: Wish): void {
    const says = wish.list.at(-1)?.after ?? this.#start.get(path) ?? NOWHERE
    if (isKept(wish) || wish.verdict === 'skipped' || JSON.stringify(says) === JSON.stringify(wish.want))
      return
    wish.list = [...wish.list, fresh(says, wish.want)]
  }

  #wishesBack(restored: Done): Map<RelPath, Wish> {
    const wishes = new Map<RelPath, Wish>()
    for (const [path, after] of restored.after) {
      const now = this.live.get(path) ?? []
      const from = this.#now(path)
      const want = restored.was.get(path) ?? NOWHERE
      const wish: Wish = {
        from,
        want,
        list: restored.before.get(path) ?? [],
        also: [],
        verdict: 'go',
        by: '',
        isConflict: false,
        isMerge: false,
      }
      wishes.set(path, wish)
      if (ids(now) === ids(after)) {
        wish.verdict = verdictBack(wish, now.at(-1)?.after ?? from)
        wish.isConflict = wish.verdict === 'unknown-writer'
        continue
      }
      const fresh = now.filter((rec) => !after.some((old) => old.id === rec.id)).pop()
      wish.isConflict = true
      wish.by = fresh === undefined ? '' : `t_${fresh.turns[0]}`
      wish.verdict = 'changed-after-turn'
      if (fresh?.kind === 'shared') wish.verdict = 'shared'
      if (fresh?.kind === 'agent' && fresh.session !== this.#sessionOf(restored))
        wish.verdict = 'owned-by-other-session'
    }
    return wishes
  }

  #sessionOf(restored: Done): string | null {
    const target = this.done.find((item) => item.number === restored.target)
    if (target !== undefined) return this.#sessionOf(target)
    return this.turns[restored.target - 1]?.session ?? null
  }

  // ---- the tree around a path

  #carryOut(
    target: Turn,
    restored: Done | null,
    request: Request,
    wishes: Map<RelPath, Wish>,
    turns: number[],
  ): CommandOutcome {
    const lines: string[] = []
    const record: Pick<Done, 'before' | 'after' | 'was'> = {
      before: new Map(),
      after: new Map(),
      was: new Map(),
    }
    const number = this.turns.length + 1
    const number2 = this.#clock + 1
    let unchanged = 0
    const losing = new Set<number>()
    for (const [path, wish] of wishes) {
      lines.push(...wordsOf(path, wish))
      if (wish.verdict === 'unchanged') unchanged++
      if (wish.verdict !== 'go' && wish.verdict !== 'unchanged') continue
      const was = this.live.get(path) ?? []
      const next = wish.list.map((rec) => (rec.id === -1 ? { ...rec, id: number2, turns: [number] } : rec))
      for (const rec of was)
        if (!next.some((left) => left.id === rec.id)) for (const turn of rec.turns) losing.add(turn)
      if (ids(was) !== ids(next)) {
        record.before.set(path, was)
        record.after.set(path, next)
        record.was.set(path, wish.from)
        this.live.set(path, next)
      }
      if (wish.want.kind === 'absent') this.tree.delete(path)
      else this.tree.set(path, wish.want)
    }
    this.#clock++
    const status = record.after.size > 0 ? 'done' : 'nothing-to-do'
    const isWhole = request.paths === null && target.paths === null
    const of = turns.filter((turn) =>
      isWhole ? this.#mark(turn) !== 'yes' : losing.has(turn) && this.#mark(turn) === 'no',
    )
    this.#turn('restore', null, null)
    const takes = restored?.number ?? null
    this.done.push({ number, target: target.number, takes, of, whole: isWhole, status, ...record })
    this.#lastSeen = new Map(this.tree)
    lines.push(...of.map((turn) => `of t_${turn}`), `unchanged ${unchanged}`)
    return { status, lines: lines.sort() }
  }
}
