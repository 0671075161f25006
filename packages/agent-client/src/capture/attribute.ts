import { isWithin, type RelPath, type Source, type TurnId } from '@turnback/core'
import type { Difference } from '#capture-ports.ts'
import type { ToolEvent, TurnRow } from '#ports.ts'

/** An open turn, and what its agent said since the last scan. */
export interface Suspect {
  readonly turn: TurnId
  readonly named: readonly RelPath[]
  readonly ranCommand: boolean
  /** The turn is closed by us, not by its agent: what came after this moment is not its work. Else null. */
  readonly notAfterMs: number | null
}

export type Owner =
  | { readonly kind: 'outside' }
  | { readonly kind: 'turn'; readonly turn: TurnId; readonly source: Source }
  | { readonly kind: 'shared'; readonly turns: readonly TurnId[] }

/** @param scan the number of the scan that is attributed: events count that came since the one before */
export function makeSuspect(
  turn: TurnRow,
  events: readonly ToolEvent[],
  scan: number,
  isLate: boolean,
): Suspect {
  const recent = events.filter((event) => event.nextScan >= scan)
  return {
    turn: turn.turn,
    named: recent.flatMap((event) => event.paths),
    ranCommand: recent.some((event) => event.command !== null),
    notAfterMs: isLate ? turn.lastEventMs : null,
  }
}

/**
 * Whose change it is (contract rule 3): nobody's turn → outside; the only open turn's; with several, that of the
 * one whose tool event names the path; else it is shared.
 */
export function attribute(difference: Difference, suspects: readonly Suspect[]): Owner {
  const naming = suspects.filter((suspect) => names(suspect, difference))
  const only = naming[0]
  if (only !== undefined && naming.length === 1) return { kind: 'turn', turn: only.turn, source: 'tool' }
  const able = naming.length > 0 ? naming : suspects.filter((suspect) => couldBe(suspect, difference))
  const first = able[0]
  if (first === undefined) return { kind: 'outside' }
  if (able.length > 1) return { kind: 'shared', turns: able.map(({ turn }) => turn) }
  return { kind: 'turn', turn: first.turn, source: first.ranCommand ? 'shell' : 'unknown' }
}

/** A tool that names a file also makes the directories above it. */
function names({ named }: Suspect, { path, before, after }: Difference): boolean {
  const isFolder = before.kind === 'dir' || after.kind === 'dir'
  return named.some((each) => isWithin(path, each) || (isFolder && isWithin(each, path)))
}

function couldBe({ notAfterMs }: Suspect, { changedMs }: Difference): boolean {
  return notAfterMs === null || changedMs <= notAfterMs
}
