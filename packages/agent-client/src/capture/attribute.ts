import { isWithin, limits, type RelPath, type Source, type State, type TurnId } from '@turnback/core'
import type { Difference } from '#capture-ports.ts'
import type { ToolEvent, TurnRow } from '#ports.ts'

/** A turn that may have made a change, and what its agent said since the last scan. */
export interface Suspect {
  readonly turn: TurnId
  readonly named: readonly RelPath[]
  readonly ranCommand: boolean
  /** The turn is closed by us, not by its agent: what came after this moment is not its work. Else null. */
  readonly notAfterMs: number | null
  /** The tree was not looked at when it began: what came before this moment is not its work. Else null. */
  readonly notBeforeMs: number | null
  /** Its agent ended it: what is written later is not its work, whatever tools had named. */
  readonly isOver: boolean
}

export type Owner =
  | { readonly kind: 'outside' }
  | { readonly kind: 'turn'; readonly turn: TurnId; readonly source: Source }
  | { readonly kind: 'shared'; readonly turns: readonly TurnId[] }

/**
 * @param scan the number of the scan that is attributed. Events count that came since the one before, and tools that
 * were in flight at that one: they may have written on both sides of it.
 */
export function makeSuspect(
  turn: Pick<TurnRow, 'turn' | 'lastEventMs' | 'isUnseen' | 'startedAt'>,
  events: readonly ToolEvent[],
  scan: number,
  isLate: boolean,
): Suspect {
  const before = findInFlight(events.filter((event) => event.nextScan < scan))
  const recent = [...before, ...events.filter((event) => event.nextScan >= scan)]
  return {
    turn: turn.turn,
    named: recent.flatMap((event) => event.paths),
    ranCommand: recent.some((event) => event.command !== null),
    notAfterMs: isLate ? findLastWork(turn.lastEventMs, events) : null,
    notBeforeMs: turn.isUnseen ? Date.parse(turn.startedAt) : null,
    isOver: false,
  }
}

/**
 * When the turn's work ended at the latest, of a turn that its agent did not end: with its last event. A command that
 * began and never reported an end may have gone on writing; for how long nobody knows, so it has a bounded time. Null
 * for a turn without events: it keeps everything.
 */
function findLastWork(lastEventMs: number | null, events: readonly ToolEvent[]): number | null {
  if (lastEventMs === null) return null
  const isRunning = findInFlight(events).some((event) => event.command !== null)
  return isRunning ? lastEventMs + limits.commandInFlightSeconds * 1000 : lastEventMs
}

/** Tools that began and did not end. They have no names of their own: an end belongs to the likeliest beginning. */
function findInFlight(events: readonly ToolEvent[]): ToolEvent[] {
  const running: ToolEvent[] = []
  for (const event of events) {
    switch (event.type) {
      case 'tool.before':
        running.push(event)
        break
      case 'tool.after': {
        const fits = [
          (each: ToolEvent) => each.tool === event.tool && each.command === event.command,
          (each: ToolEvent) => each.tool === event.tool,
          () => true,
        ]
        const index = fits.map((fit) => running.findIndex(fit)).find((found) => found >= 0)
        if (index !== undefined) running.splice(index, 1)
        break
      }
      case 'turn.end':
      case 'session.end':
        running.length = 0
        break
      case 'turn.start':
        break
    }
  }
  return running
}

/** A change, and what the others of the same scan tell about it. */
interface Clue {
  readonly changedMs: number
  /** Where the same bytes came from, or went to. */
  readonly twin: Difference | null
}

/**
 * Whose changes they are (contract rule 3): nobody's turn → outside; the only open turn's; with several, that of the
 * one whose tool event names the path; else it is shared.
 */
export function attributeAll(
  differences: readonly Difference[],
  suspects: readonly Suspect[],
): { readonly difference: Difference; readonly owner: Owner }[] {
  if (suspects.length === 0)
    return differences.map((difference) => ({ difference, owner: { kind: 'outside' } }))
  const clues = findMoves(differences)
  return differences.map((difference) => ({
    difference,
    owner: attribute(difference, suspects, clues.get(difference)),
  }))
}

function attribute(difference: Difference, suspects: readonly Suspect[], clue: Clue | undefined): Owner {
  const { changedMs, twin } = clue ?? { changedMs: difference.changedMs, twin: null }
  const isAble = ({ notAfterMs, notBeforeMs }: Suspect) =>
    (notAfterMs === null || changedMs <= notAfterMs) && (notBeforeMs === null || changedMs >= notBeforeMs)
  const naming = suspects.filter((each) =>
    isAble(each)
      ? names(each, difference) || (twin !== null && names(each, twin))
      : !each.isOver && names(each, difference),
  )
  const only = naming[0]
  if (only !== undefined && naming.length === 1) return { kind: 'turn', turn: only.turn, source: 'tool' }
  const able = naming.length > 0 ? naming : suspects.filter(isAble)
  const first = able[0]
  if (first === undefined) return { kind: 'outside' }
  if (able.length > 1) return { kind: 'shared', turns: able.map(({ turn }) => turn) }
  return { kind: 'turn', turn: first.turn, source: first.ranCommand ? 'shell' : 'unknown' }
}

/** A tool that names a file also makes the directories above it, and takes away those that it leaves empty. */
function names({ named }: Suspect, { path, before, after }: Difference): boolean {
  const isFolderMadeOrGone = (before.kind === 'dir') !== (after.kind === 'dir')
  return named.some((each) => isWithin(path, each) || (isFolderMadeOrGone && isWithin(each, path)))
}

/**
 * Files and links that went from one path to another: what was gone here came there in the same scan. Moving a folder
 * leaves the times of what is in it alone, so what came is as new as its absence from where it may have been. A tool
 * that named one of the two paths means both, if nothing else is alike.
 */
function findMoves(differences: readonly Difference[]): Map<Difference, Clue> {
  const gone = new Map<string, Difference[]>()
  for (const difference of differences)
    if (difference.after.kind === 'absent') addTo(gone, contentOf(difference.before), difference)
  if (gone.size === 0) return new Map()
  const come = new Map<string, Difference[]>()
  for (const difference of differences)
    if (difference.before.kind === 'absent') addTo(come, contentOf(difference.after), difference)
  const clues = new Map<Difference, Clue>()
  for (const [content, to] of come) {
    const from = gone.get(content) ?? []
    const [only, ...others] = from
    const [place, ...places] = to
    if (only === undefined || place === undefined) continue
    const isSure = others.length === 0 && places.length === 0 && !isEmpty(only.before)
    const goneMs = from.reduce((latest, each) => Math.max(latest, each.changedMs), 0)
    for (const each of to)
      clues.set(each, { changedMs: Math.max(each.changedMs, goneMs), twin: isSure ? only : null })
    if (isSure) clues.set(only, { changedMs: Math.max(only.changedMs, place.changedMs), twin: place })
  }
  return clues
}

function addTo(map: Map<string, Difference[]>, content: string | null, difference: Difference): void {
  if (content === null) return
  const found = map.get(content)
  if (found === undefined) map.set(content, [difference])
  else found.push(difference)
}

/** Equal for what may be the same file or link under another path; null for what is neither. */
function contentOf(state: State): string | null {
  if (state.kind === 'file') return state.blob
  return state.kind === 'symlink' ? `-> ${state.target}` : null
}

function isEmpty(state: State): boolean {
  return state.kind === 'file' && state.sizeBytes === 0
}
