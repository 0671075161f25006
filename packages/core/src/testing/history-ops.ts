import type { ConflictChoice } from '#command/messages.ts'
import type { Scope } from '#manifest/manifest.ts'
import type { RelPath } from '#path/rel-path.ts'
import type { Edit } from './memory-tree.ts'
import { SeededRandom } from './random.ts'

/** One thing that happens in a workspace. Any list of them is a possible history, so lists can be cut down. */
export type HistoryOp =
  | { readonly op: 'begin'; readonly session: number }
  | { readonly op: 'end'; readonly session: number }
  /** The person stops the agent, which sends no end: what is edited later is not its work, unless a tool named it. */
  | { readonly op: 'esc'; readonly session: number }
  /** An edit; `tool` is the session whose tool event names the path, if its turn is open. */
  | { readonly op: 'edit'; readonly edit: Edit; readonly tool: number | null }
  | { readonly op: 'checkpoint'; readonly paths: readonly RelPath[] | null }
  | { readonly op: 'undo'; readonly session: number | null; readonly onConflict: ConflictChoice }
  | { readonly op: 'redo' }
  | RestoreOp

export interface RestoreOp {
  readonly op: 'restore'
  /** Which of the turns so far, counted from the newest. */
  readonly back: number
  readonly scope: Scope
  readonly exact: boolean
  readonly onConflict: ConflictChoice
  readonly paths: readonly RelPath[] | null
}

const FILES = ['a', 'b', 'd/x', 'd/y', 'd/e/z', 'a/q', 'd'] as const
const FOLDERS = ['d', 'd/e', 'a'] as const
const MODES = [0o644, 0o755, 0o600] as const

/** A random history: sessions whose turns overlap, edits by agents and people, restores of every kind. */
export function randomHistory(seed: number): HistoryOp[] {
  const random = new SeededRandom(seed)
  // Many changes of few paths make deep stacks; many paths make trees that get in each other's way.
  const files = seed % 2 === 0 ? ['a', 'b', 'd/x'] : FILES
  const episodes = 5 + random.below(12)
  return Array.from({ length: episodes }, () => randomEpisode(random, files)).flat()
}

/** What tends to happen together: a turn's work, a person's edits, one command. */
function randomEpisode(random: SeededRandom, files: readonly RelPath[]): HistoryOp[] {
  const dice = random.below(100)
  const session = random.below(2)
  if (dice < 46) {
    const work = randomEdits(random, files, session)
    const end: HistoryOp[] = random.chance(60) ? [{ op: 'end', session }] : []
    return [{ op: 'begin', session }, ...work, ...end]
  }
  if (dice < 66) return randomEdits(random, files, random.chance(30) ? session : null)
  if (dice < 70) return [{ op: random.chance(35) ? 'esc' : 'end', session }]
  return [randomCommand(random, files)]
}

function randomEdits(random: SeededRandom, files: readonly RelPath[], session: number | null): HistoryOp[] {
  return Array.from({ length: 1 + random.below(3) }, () => ({
    op: 'edit',
    edit: randomEdit(random, files),
    tool: random.chance(50) ? session : random.chance(50) ? random.below(2) : null,
  }))
}

function randomCommand(random: SeededRandom, files: readonly RelPath[]): HistoryOp {
  const dice = random.below(100)
  if (dice < 10) return { op: 'checkpoint', paths: random.chance(30) ? [random.pick(files)] : null }
  if (dice < 35) {
    const session = random.chance(25) ? random.below(2) : null
    return { op: 'undo', session, onConflict: randomChoice(random) }
  }
  if (dice < 55) return { op: 'redo' }
  return {
    op: 'restore',
    back: random.below(8),
    scope: random.pick(['turn', 'turn', 'from-turn', 'from-turn', 'session', 'all-sessions']),
    exact: random.chance(15),
    onConflict: randomChoice(random),
    paths: random.chance(25) ? [random.chance(50) ? random.pick(files) : random.pick(FOLDERS)] : null,
  }
}

function randomChoice(random: SeededRandom): ConflictChoice {
  return random.pick(['keep', 'keep', 'keep', 'save', 'merge', 'merge', 'fail'])
}

function randomEdit(random: SeededRandom, files: readonly RelPath[]): Edit {
  const dice = random.below(100)
  const path = random.pick(files)
  if (dice < 63) return { do: 'write', path, line: random.below(6), value: random.below(4) }
  if (dice < 79) return { do: 'remove', path: random.chance(70) ? path : random.pick(FOLDERS) }
  if (dice < 87) {
    return { do: 'chmod', path: random.chance(80) ? path : random.pick(FOLDERS), mode: random.pick(MODES) }
  }
  if (dice < 90) return { do: 'link', path, target: random.pick(['b', 'elsewhere']) }
  if (dice < 95) return { do: 'mkdir', path: random.pick(FOLDERS) }
  if (dice < 96) return { do: 'grow', path }
  if (dice < 98) return { do: 'exclude', path: random.pick(FOLDERS) }
  return { do: 'git-init', path: random.pick(FOLDERS) }
}
