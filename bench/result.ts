/** One line of the table: a goal, and what was measured for it. */
export interface Result {
  readonly row: string
  readonly work: string
  readonly unit: 'ms' | 'bytes'
  readonly ours: number
  readonly peer: number | null
  readonly peerName: string
  /** What must hold: ours ÷ peer, or ours alone when `isAbsolute`. */
  readonly goal: number
  readonly isAbsolute?: boolean
  readonly notes?: readonly string[]
  /** The smallest of each side's samples. */
  readonly quickest?: { readonly ours: number; readonly peer: number }
  /** Everything behind the medians. */
  readonly samples?: Readonly<Record<string, readonly number[]>>
}

/** A line that could not be measured, and why; `failed` when it was not known beforehand. */
export interface Missing {
  readonly row: string
  readonly work: string
  readonly cannot: string
  readonly failed?: true
}

export type Line = Result | Missing

/** Null for a peer that took nothing: then there is no ratio. */
export function ratioOf({ ours, peer, isAbsolute }: Result): number | null {
  if (isAbsolute === true) return ours
  return peer === null || peer === 0 ? null : ours / peer
}

export function isReached(result: Result): boolean {
  const ratio = ratioOf(result)
  return ratio !== null && ratio <= result.goal
}

export function formatLine(line: Line): string {
  const head = line.work.padEnd(52)
  if ('cannot' in line) return `–  ${head} can not run: ${line.cannot}`
  const mark = isReached(line) ? '✓' : '✗'
  const ratio = ratioOf(line)
  const measured = `${inUnit(line.ours, line.unit)}  ${line.peerName} ${line.peer === null ? '' : inUnit(line.peer, line.unit)}`
  const verdict =
    line.isAbsolute === true
      ? `goal ≤ ${inUnit(line.goal, line.unit).trim()}`
      : `${ratio === null ? '?' : `${ratio.toFixed(3)} ×`} (goal ≤ ${line.goal} ×)`
  const notes = [...(line.notes ?? []), ...quickest(line)].map((note) => `\n     ${note}`).join('')
  return `${mark}  ${head} ${measured}  ${verdict}${notes}`
}

/** What both can do when nobody disturbs them: on a busy machine nearer to the truth than medians are. */
function quickest({ unit, quickest }: Result): string[] {
  if (unit !== 'ms' || quickest === undefined) return []
  const { ours, peer } = quickest
  return [
    `quickest: ${inUnit(ours, unit).trim()} / ${inUnit(peer, unit).trim()} = ${(ours / peer).toFixed(3)} ×`,
  ]
}

function inUnit(value: number, unit: Result['unit']): string {
  if (unit === 'ms') return `${value.toFixed(value < 100 ? 1 : 0)} ms`.padStart(9)
  return `${(value / 1e6).toFixed(value < 1e7 ? 3 : 1)} MB`.padStart(9)
}
