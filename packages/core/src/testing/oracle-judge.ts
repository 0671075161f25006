import type { FileState, State } from '#tree/state.ts'
import { textFile, textOf } from './memory-tree.ts'
import { blobOf, fresh, isKept, type Rec, type Request, type Turn, type Wish } from './oracle-records.ts'

/** The bytes that are there, and those that a merge makes. */
export class OracleStore {
  readonly #made = new Set<string>()
  readonly #isGone: (blob: string) => boolean

  constructor(isGone: (blob: string) => boolean) {
    this.#isGone = isGone
  }

  isLost(blob: string): boolean {
    return this.#isGone(blob) && !this.#made.has(blob)
  }

  make(file: FileState): FileState {
    this.#made.add(file.blob)
    return file
  }
}

/** One path's list of live changes, and where the changes in scope lie in it. */
export interface Place {
  recs: Rec[]
  mine: boolean[]
  /** For each change the turn that has to be named when it goes, or 0. */
  news: number[]
  low: number
  high: number
  above: Rec[]
  everyone: boolean
  only: boolean
  target: Turn
  request: Request
}

/** Decides what becomes of one path, by its list of live changes. */
export function judge(wish: Wish, at: Place, store: OracleStore): void {
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
  if (last === undefined) {
    takeAll()
    return
  }
  const choice = at.request.onConflict
  const isChmods = at.above.every(
    (rec) => rec.kind === 'person' && blobOf(rec.before) === blobOf(rec.after) && blobOf(rec.after) !== null,
  )
  if ((!at.only || choice === 'save') && isChmods && wish.want.kind === 'file' && wish.from.kind === 'file') {
    takeAll()
    if (isKept(wish)) return
    // The chmods above are taken off too, but what they did stays.
    wish.also = at.news.slice(at.low, at.high + 1).filter((turn) => turn > 0)
    const mixed: State = { ...wish.want, mode: wish.from.mode }
    wish.want = mixed
    if (blobOf(mixed) === blobOf(wish.from)) wish.verdict = 'unchanged'
    return
  }
  if ((at.only && choice !== 'save') || choice === 'merge')
    merge(wish, at, store, () => refuse(last, why(last, at, wish.want)))
  else if (choice === 'save') takeAll()
  else refuse(last, why(last, at, wish.want))
}

function why(last: Rec, at: Place, want: State): string {
  if (last.kind === 'shared') return 'shared'
  if (last.kind === 'agent')
    return last.session === at.target.session ? 'changed-after-turn' : 'owned-by-other-session'
  const left = at.recs[at.high]?.after.kind ?? 'absent'
  const kinds = [left === 'absent' ? want.kind : left, last.after.kind]
  return kinds[0] === kinds[1] || kinds.includes('absent') ? 'changed-after-turn' : 'type-changed'
}

/** Undoes the turn's changes one block after another on the present text, newest first. */
function merge(wish: Wish, at: Place, store: OracleStore, refuse: () => void): void {
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
    const merged = mergeOne(newest.after, state, oldest.before, store)
    if (merged === 'lost') {
      wish.verdict = 'missing-blob'
      return
    }
    if (merged === null) {
      refuse()
      return
    }
    state = merged
  }
  wish.list = at.recs.filter((_, k) => !at.mine[k])
  wish.also = []
  if (JSON.stringify(state) === JSON.stringify(wish.from)) wish.verdict = 'unchanged'
  else {
    wish.list.push(fresh(wish.from, state))
    wish.isMerge = true
  }
  wish.want = state
}

function mergeOne(base: State, ours: State, theirs: State, store: OracleStore): State | 'lost' | null {
  const same = (a: State, b: State): boolean =>
    a.kind !== 'skipped' && JSON.stringify(a) === JSON.stringify(b)
  if (same(base, theirs) || same(ours, theirs)) return ours
  if (base.kind !== 'file' || ours.kind !== 'file' || theirs.kind !== 'file') return null
  const mode = base.mode === ours.mode ? theirs.mode : ours.mode
  const [b, o, t] = [textOf(base.blob), textOf(ours.blob), textOf(theirs.blob)]
  if (b === t || o === t) return textFile(o, mode)
  if (b === o) return textFile(t, mode)
  if ([base, ours, theirs].some((state) => store.isLost(state.blob))) return 'lost'
  const text = mergeByPlace(b.split('\n'), o.split('\n'), t.split('\n'))
  return text === null ? null : store.make(textFile(text.join('\n'), mode))
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
