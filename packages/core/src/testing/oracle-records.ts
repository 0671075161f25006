import type { RelPath } from '#path/rel-path.ts'
import type { State } from '#tree/state.ts'
import type { CommandOutcome } from './core-workspace.ts'
import type { RestoreOp } from './history-ops.ts'

export interface Rec {
  id: number
  turns: number[]
  kind: 'agent' | 'shared' | 'person'
  session: string | null
  before: State
  after: State
}

export interface Turn {
  number: number
  kind: 'agent' | 'checkpoint' | 'restore' | 'outside'
  session: string | null
  start: number
  changed: boolean
  paths: readonly RelPath[] | null
}

export interface Done {
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

export interface Wish {
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

/** An open turn, as the oracle keeps it. */
export interface OpenTurn {
  turn: Turn
  session: number
  /** Paths that its tool events named since the last look. */
  tools: Set<RelPath>
  /** Paths edited since the person stopped it; null while it goes on. */
  late: Set<RelPath> | null
}

/** A tool that names a path means what is below it, and the folders above it that are made or go with it. */
export function namesPath(tools: Iterable<RelPath>, path: RelPath, before: State, after: State): boolean {
  const isFolderMadeOrGone = (before.kind === 'dir') !== (after.kind === 'dir')
  for (const tool of tools) {
    if (path === tool || path.startsWith(`${tool}/`)) return true
    if (isFolderMadeOrGone && tool.startsWith(`${path}/`)) return true
  }
  return false
}

export type Request = Pick<RestoreOp, 'scope' | 'exact' | 'onConflict' | 'paths'>

export const NOWHERE: State = { kind: 'absent' }

/** A change that gets its number when the restore that makes it is carried out. */
export function fresh(before: State, after: State): Rec {
  return { id: -1, turns: [], kind: 'person', session: null, before, after }
}

/** The excluded folder above a path, or null. */
export function hiddenBy(tree: ReadonlyMap<RelPath, State>, path: RelPath): State | null {
  for (const [folder, state] of tree) {
    if (state.kind === 'skipped' && state.reason === 'excluded-directory' && path.startsWith(`${folder}/`))
      return state
  }
  return null
}

export function nothing(): CommandOutcome {
  return { status: 'nothing-to-do', lines: [] }
}

export function ids(recs: readonly Rec[]): string {
  return recs.map((rec) => rec.id).join(' ')
}

export function isNamed(path: RelPath, paths: readonly RelPath[] | null): boolean {
  return paths === null || paths.some((named) => path === named || path.startsWith(`${named}/`))
}

export function isKept(wish: Wish): boolean {
  return wish.verdict !== 'go' && wish.verdict !== 'unchanged' && wish.verdict !== 'skipped'
}

export function blobOf(state: State): string | null {
  return state.kind === 'file' ? state.blob : null
}

export function lastFolder(recs: readonly Rec[]): State {
  const states = recs.flatMap((rec) => [rec.before, rec.after]).filter((state) => state.kind === 'dir')
  return states.pop() ?? { kind: 'dir', mode: 0o755 }
}

export function wordsOf(path: RelPath, wish: Wish): string[] {
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

/** What is there now and would not be any more. */
export function bytesThatGo({ from, want }: Wish): string | null {
  if (from.kind !== 'file') return null
  return want.kind === 'file' && want.blob === from.blob ? null : from.blob
}

/** @param left the state in which the restore left the path */
export function verdictBack({ from, want }: Wish, left: State): string {
  if (from.kind !== 'skipped' && JSON.stringify(left) !== JSON.stringify(from)) return 'unknown-writer'
  if (from.kind !== 'skipped' && JSON.stringify(from) === JSON.stringify(want)) return 'unchanged'
  if (want.kind === 'skipped') return 'skipped'
  return from.kind === 'skipped' ? 'not-captured' : 'go'
}
