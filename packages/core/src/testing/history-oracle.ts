import type { ConflictChoice } from '#command/messages.ts'
import type { RelPath } from '#path/rel-path.ts'
import type { State } from '#tree/state.ts'
import type { CommandOutcome } from './core-workspace.ts'
import type { HistoryOp, RestoreOp } from './history-ops.ts'
import { applyEdit, type MemoryTree, textFile, textOf } from './memory-tree.ts'

/**
 * The rules of history told a second time, as simply as they can be: lists are changed in place, every restore
 * keeps whole copies of what was before and after it, and what is to happen in the tree is found by trying
 * until nothing changes any more. It shares no code with history/ and restore/, and is slow where it helps.
 */

interface Rec {
  id: number
  turns: number[]
  kind: 'agent' | 'shared' | 'person'
  session: string | null
  before: State
  after: State
}

interface Turn {
  number: number
  kind: 'agent' | 'checkpoint' | 'restore' | 'outside'
  session: string | null
  start: number
  changed: boolean
  paths: readonly RelPath[] | null
}

interface Done {
  number: number
  target: number
  takes: number | null
  of: number[]
  whole: boolean
  status: string
  /** The lists of live changes of the paths it moved, and their states, before and after. */
  before: Map<RelPath, Rec[]>
  after: Map<RelPath, Rec[]>
  was: Map<RelPath, State>
}

interface Wish {
  from: State
  want: State
  /** What the path's list of live changes is to become. */
  list: Rec[]
  also: number[]
  verdict: 'go' | 'unchanged' | 'skipped' | string
  by: string
  isConflict: boolean
  isMerge: boolean
}

type Request = Pick<RestoreOp, 'scope' | 'exact' | 'onConflict' | 'paths'>

const NOWHERE: State = { kind: 'absent' }

export class HistoryOracle {
  readonly tree: MemoryTree = new Map()
  readonly live = new Map<RelPath, Rec[]>()
  readonly turns: Turn[] = []
  readonly done: Done[] = []
  #lastSeen: MemoryTree
  #open: { turn: Turn; session: number; tools: Set<RelPath> }[] = []
  #clock = 0
  readonly #isLost: (blob: string) => boolean

  constructor(start: Iterable<readonly [RelPath, State]>, isLost: (blob: string) => boolean) {
    for (const [path, state] of start) this.tree.set(path, state)
    this.#lastSeen = new Map(this.tree)
    this.#isLost = isLost
  }

  apply(op: HistoryOp): CommandOutcome | null {
    if (op.op === 'edit') {
      applyEdit(this.tree, op.edit)
      for (const open of this.#open) if (open.session === op.tool) open.tools.add(op.edit.path)
      return null
    }
    if (op.op === 'begin' || op.op === 'end') {
      const isOpen = this.#open.some((open) => open.session === op.session)
      if (isOpen) {
        this.#look()
        this.#open = this.#open.filter((open) => open.session !== op.session)
      }
      if (op.op === 'end') return null
      this.#look()
      this.#open.push({
        turn: this.#turn('agent', `s${op.session}`, null),
        session: op.session,
        tools: new Set(),
      })
      return null
    }
    this.#look()
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

  #look(): void {
    this.#clock++
    const paths = [...new Set([...this.#lastSeen.keys(), ...this.tree.keys()])].sort()
    let outside: Turn | null = null
    for (const path of paths) {
      const before = this.#lastSeen.get(path) ?? NOWHERE
      const after = this.tree.get(path) ?? NOWHERE
      if (JSON.stringify(before) === JSON.stringify(after)) continue
      if (hiddenBy(this.#lastSeen, path) !== null || hiddenBy(this.tree, path) !== null) continue
      const rec: Rec = { id: this.#clock, turns: [], kind: 'person', session: null, before, after }
      const users = this.#open.filter((open) => open.tools.has(path))
      if (this.#open.length === 0) {
        outside ??= this.#turn('outside', null, null)
        rec.turns = [outside.number]
      } else {
        const owners = this.#open.length === 1 ? this.#open : users.length === 1 ? users : this.#open
        rec.turns = owners.map((open) => open.turn.number)
        rec.kind = owners.length === 1 ? 'agent' : 'shared'
        rec.session = owners.length === 1 ? (owners[0]?.turn.session ?? null) : null
        for (const open of owners) open.turn.changed = true
      }
      this.live.set(path, [...(this.live.get(path) ?? []), rec])
    }
    for (const open of this.#open) open.tools = new Set()
    this.#lastSeen = new Map(this.tree)
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
    const wishes = restored === undefined ? this.#wishes(target, request) : this.#wishesBack(restored)
    this.#keepRepositories(wishes)
    for (const path of [...wishes.keys()]) if (!isNamed(path, request.paths)) wishes.delete(path)
    for (const wish of wishes.values()) {
      if (wish.verdict !== 'go') continue
      if (wish.want.kind === 'file' && !wish.isMerge && this.#isLost(wish.want.blob))
        wish.verdict = 'missing-blob'
    }
    this.#settleRoom(wishes)
    const made = this.#settleParents(wishes)
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

  #wishes(target: Turn, request: Request): Map<RelPath, Wish> {
    const turns = this.#turnsOf(target, request)
    const everyone = target.kind === 'checkpoint' || request.scope === 'all-sessions'
    const only = target.kind !== 'checkpoint' && request.scope === 'turn'
    const wishes = new Map<RelPath, Wish>()
    for (const [path, recs] of this.live) {
      const mine = recs.map((rec) => this.#isMine(rec, path, target, request, turns))
      const low = mine.indexOf(true)
      if (low < 0) continue
      const high = mine.lastIndexOf(true)
      const from = this.#now(path)
      const want = recs[low]?.before ?? NOWHERE
      const taken = recs.slice(low)
      const also = taken
        .filter(
          (rec) =>
            !mine[recs.indexOf(rec)] ||
            (rec.kind !== 'person' && !rec.turns.some((turn) => turns.includes(turn))),
        )
        .map((rec) => rec.turns[0] ?? 0)
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
        continue
      }
      if (want.kind === 'skipped') wish.verdict = 'skipped'
      else if (from.kind === 'skipped') wish.verdict = 'not-captured'
      else this.#judge(wish, { recs, mine, low, high, above, everyone, only, target, request })
    }
    return wishes
  }

  #judge(
    wish: Wish,
    at: {
      recs: Rec[]
      mine: boolean[]
      low: number
      high: number
      above: Rec[]
      everyone: boolean
      only: boolean
      target: Turn
      request: Request
    },
  ): void {
    const between = at.recs
      .slice(at.low, at.high)
      .filter((rec, i) => !at.mine[at.low + i] && rec.kind !== 'person')
    const stranger = at.everyone ? undefined : between[0]
    const refuse = (rec: Rec | undefined, reason: string): void => {
      wish.verdict = reason
      wish.by = rec === undefined ? '' : `t_${rec.turns[0]}`
      wish.isConflict = true
    }
    const takeAll = (): void => {
      if (stranger !== undefined)
        refuse(stranger, stranger.kind === 'shared' ? 'shared' : 'interleaved-with-other-session')
    }
    const last = at.above.at(-1)
    if (last === undefined) return takeAll()
    const choice = at.request.onConflict
    const isChmods = at.above.every(
      (rec) =>
        rec.kind === 'person' && blobOf(rec.before) === blobOf(rec.after) && blobOf(rec.after) !== null,
    )
    if (!at.only && isChmods && wish.want.kind === 'file' && wish.from.kind === 'file') {
      takeAll()
      if (isKept(wish)) return
      wish.also = wish.also.filter((turn) => !at.above.some((rec) => rec.turns[0] === turn))
      // A turn may have a change below and a chmod above: only one of the two is undone.
      const below = at.recs.slice(at.low, at.high + 1).filter((rec, i) => !at.mine[at.low + i])
      wish.also = below.map((rec) => rec.turns[0] ?? 0)
      const mixed: State = { ...wish.want, mode: wish.from.mode }
      if (wish.want.mode !== wish.from.mode) wish.list = [...wish.list, this.#fresh(wish.want, mixed)]
      wish.want = mixed
      if (blobOf(mixed) === blobOf(wish.from)) wish.verdict = 'unchanged'
      return
    }
    if ((at.only && choice !== 'save') || choice === 'merge')
      return this.#merge(wish, at, () => refuse(last, this.#why(last, at)))
    if (choice === 'save') return takeAll()
    refuse(last, this.#why(last, at))
  }

  #why(last: Rec, at: { recs: Rec[]; high: number; target: Turn }): string {
    if (last.kind === 'shared') return 'shared'
    if (last.kind === 'agent')
      return last.session === at.target.session ? 'changed-after-turn' : 'owned-by-other-session'
    return at.recs[at.high]?.after.kind === last.after.kind ? 'changed-after-turn' : 'type-changed'
  }

  #fresh(before: State, after: State): Rec {
    return { id: -1, turns: [], kind: 'person', session: null, before, after }
  }

  /** Undoes the turn's changes one block after another on the present text, newest first. */
  #merge(
    wish: Wish,
    at: { recs: Rec[]; mine: boolean[]; low: number; high: number },
    refuse: () => void,
  ): void {
    let state = wish.from
    let i = at.high
    while (i >= at.low) {
      if (!at.mine[i]) {
        i--
        continue
      }
      const newest = at.recs[i]
      while (i > 0 && at.mine[i - 1]) i--
      const oldest = at.recs[i]
      i--
      if (newest === undefined || oldest === undefined) throw new Error('a block without ends')
      const merged = this.#mergeOne(newest.after, state, oldest.before)
      if (merged === 'lost') {
        wish.verdict = 'missing-blob'
        return
      }
      if (merged === null) return refuse()
      state = merged
    }
    wish.list = at.recs.filter((_, k) => !at.mine[k])
    wish.also = []
    if (JSON.stringify(state) === JSON.stringify(wish.from)) wish.verdict = 'unchanged'
    else {
      wish.list.push(this.#fresh(wish.from, state))
      wish.isMerge = true
    }
    wish.want = state
  }

  #mergeOne(base: State, ours: State, theirs: State): State | 'lost' | null {
    const same = (a: State, b: State): boolean =>
      a.kind !== 'skipped' && JSON.stringify(a) === JSON.stringify(b)
    if (same(base, theirs) || same(ours, theirs)) return ours
    if (base.kind !== 'file' || ours.kind !== 'file' || theirs.kind !== 'file') return null
    const mode = base.mode === ours.mode ? theirs.mode : ours.mode
    const [b, o, t] = [textOf(base.blob), textOf(ours.blob), textOf(theirs.blob)]
    if (b === t || o === t) return textFile(o, mode)
    if (b === o) return textFile(t, mode)
    if ([base, ours, theirs].some((state) => this.#isLost(state.blob))) return 'lost'
    const text = mergeByPlace(b.split('\n'), o.split('\n'), t.split('\n'))
    return text === null ? null : textFile(text.join('\n'), mode)
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
      const top = now.at(-1)
      if (
        ids(now) === ids(after) &&
        top !== undefined &&
        from.kind !== 'skipped' &&
        JSON.stringify(top.after) !== JSON.stringify(from)
      ) {
        Object.assign(wish, { verdict: 'unknown-writer', isConflict: true })
        continue
      }
      if (ids(now) === ids(after)) {
        if (from.kind !== 'skipped' && JSON.stringify(from) === JSON.stringify(want))
          wish.verdict = 'unchanged'
        else if (want.kind === 'skipped') wish.verdict = 'skipped'
        else if (from.kind === 'skipped') wish.verdict = 'not-captured'
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

  #keepRepositories(wishes: Map<RelPath, Wish>): void {
    for (const [path, wish] of wishes) {
      if (!path.endsWith('/.git') || wish.verdict !== 'not-captured' || wish.want.kind !== 'absent') continue
      wish.verdict = 'skipped'
      const folder = path.slice(0, -5)
      for (const [other, inside] of wishes) {
        if ((other === folder || other.startsWith(`${folder}/`)) && inside.verdict === 'go')
          inside.verdict = 'not-captured'
      }
    }
  }

  /** A folder that is to go, or to give way, stays while anything stays in it or is to come into it. */
  #settleRoom(wishes: Map<RelPath, Wish>): void {
    for (const [path, wish] of wishes) {
      if (wish.verdict !== 'missing-blob' || wish.from.kind !== 'dir') continue
      for (const [below, inside] of wishes) {
        if (below.startsWith(`${path}/`) && inside.verdict === 'go' && inside.want.kind === 'absent')
          inside.verdict = 'missing-blob'
      }
    }
    for (let again = true; again; ) {
      again = false
      for (const [path, wish] of wishes) {
        if (wish.verdict !== 'go' || wish.from.kind !== 'dir' || wish.want.kind === 'dir') continue
        const isInside = (other: RelPath): boolean => other.startsWith(`${path}/`)
        const goes = (other: RelPath): boolean =>
          wishes.get(other)?.verdict === 'go' && wishes.get(other)?.want.kind === 'absent'
        const stays = [...this.tree.keys()].some((other) => isInside(other) && !goes(other))
        const comes = [...wishes].some(
          ([other, inside]) => isInside(other) && inside.verdict === 'go' && inside.want.kind !== 'absent',
        )
        if (!stays && !comes) continue
        wish.verdict = 'directory-not-empty'
        again = true
      }
    }
  }

  /** Gives the wishes for missing parents; those stand in `wishes` as well, over whatever was there. */
  #settleParents(wishes: Map<RelPath, Wish>): Set<Wish> {
    const made = new Set<Wish>()
    for (const path of [...wishes.keys()].sort()) {
      const wish = wishes.get(path)
      if (wish === undefined || wish.verdict !== 'go' || wish.want.kind === 'absent') continue
      const names = path.split('/')
      const folders = names.slice(1).map((_, i) => names.slice(0, i + 1).join('/'))
      const coming = folders.map((folder): State => {
        const other = wishes.get(folder)
        return other?.verdict === 'go' ? other.want : (this.tree.get(folder) ?? NOWHERE)
      })
      if (coming.some((state) => state.kind !== 'dir' && state.kind !== 'absent')) {
        wish.verdict = 'blocked-by-parent'
        continue
      }
      for (const [i, folder] of folders.entries()) {
        if (coming[i]?.kind === 'dir') continue
        const old = wishes.get(folder)
        const recs = this.live.get(folder) ?? []
        const want = lastFolder(recs)
        const isGoing = old?.verdict === 'go'
        const parent: Wish = {
          from: isGoing ? old.from : NOWHERE,
          want,
          list: [...(isGoing ? old.list : recs), this.#fresh(NOWHERE, want)],
          also: isGoing ? old.also : [],
          verdict: 'go',
          by: '',
          isConflict: false,
          isMerge: false,
        }
        wishes.set(folder, parent)
        made.add(parent)
      }
    }
    return made
  }

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
    for (const [path, wish] of wishes) {
      lines.push(...wordsOf(path, wish))
      if (wish.verdict === 'unchanged') unchanged++
      if (wish.verdict !== 'go' && wish.verdict !== 'unchanged') continue
      const was = this.live.get(path) ?? []
      const next = wish.list.map((rec) => (rec.id === -1 ? { ...rec, id: number2, turns: [number] } : rec))
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
    const of = turns.filter((turn) => this.#mark(turn) !== 'yes' && (isWhole || this.#mark(turn) === 'no'))
    this.#turn('restore', null, null)
    const takes = restored?.number ?? null
    this.done.push({ number, target: target.number, takes, of, whole: isWhole, status, ...record })
    this.#lastSeen = new Map(this.tree)
    lines.push(...of.map((turn) => `of t_${turn}`), `unchanged ${unchanged}`)
    return { status, lines: lines.sort() }
  }
}

/** The excluded folder above a path, or null. */
function hiddenBy(tree: ReadonlyMap<RelPath, State>, path: RelPath): State | null {
  for (const [folder, state] of tree) {
    if (state.kind === 'skipped' && state.reason === 'excluded-directory' && path.startsWith(`${folder}/`))
      return state
  }
  return null
}

function nothing(): CommandOutcome {
  return { status: 'nothing-to-do', lines: [] }
}

function ids(recs: readonly Rec[]): string {
  return recs.map((rec) => rec.id).join(' ')
}

function isNamed(path: RelPath, paths: readonly RelPath[] | null): boolean {
  return paths === null || paths.some((named) => path === named || path.startsWith(`${named}/`))
}

function isKept(wish: Wish): boolean {
  return wish.verdict !== 'go' && wish.verdict !== 'unchanged' && wish.verdict !== 'skipped'
}

function blobOf(state: State): string | null {
  return state.kind === 'file' ? state.blob : null
}

function lastFolder(recs: readonly Rec[]): State {
  const states = recs.flatMap((rec) => [rec.before, rec.after]).filter((state) => state.kind === 'dir')
  return states.pop() ?? { kind: 'dir', mode: 0o755 }
}

function wordsOf(path: RelPath, wish: Wish): string[] {
  const also = wish.also.map((turn) => `also undone ${path} t_${turn}`)
  switch (wish.verdict) {
    case 'unchanged':
      return also
    case 'skipped':
      return [`skipped ${path} ${skipReason(wish, path)}`]
    case 'go':
      if (wish.want.kind === 'dir') return [...also, `directory restored ${path}`]
      if (wish.want.kind === 'absent')
        return [...also, wish.from.kind === 'dir' ? `directory deleted ${path}` : `deleted ${path}`]
      return [...also, wish.isMerge ? `merged ${path}` : `restored ${path}`]
    default: {
      const isFolder = wish.want.kind === 'dir' || (wish.want.kind === 'absent' && wish.from.kind === 'dir')
      return [isFolder ? `directory kept ${path}` : `kept ${path} ${wish.verdict} ${wish.by}`]
    }
  }
}

function skipReason(wish: Wish, path: RelPath): string {
  if (path.endsWith('/.git')) return 'nested-git-dir'
  return wish.want.kind === 'skipped' ? wish.want.reason : ''
}

/** The model's texts never lose or gain a line, so a merge can be judged place by place. */
function mergeByPlace(base: string[], ours: string[], theirs: string[]): string[] | null {
  const merged: string[] = []
  for (let i = 0; i < base.length; ) {
    let end = i
    while (end < base.length && (ours[end] !== base[end] || theirs[end] !== base[end])) end++
    if (end === i) {
      merged.push(base[i] ?? '')
      i++
      continue
    }
    const [b, o, t] = [base.slice(i, end).join(), ours.slice(i, end).join(), theirs.slice(i, end).join()]
    if (o !== b && t !== b && o !== t) return null
    merged.push(...(o === b ? theirs : ours).slice(i, end))
    i = end
  }
  return merged
}
