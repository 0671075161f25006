import { dayOf } from '#lib/format.ts'

export interface DayGroup<T> {
  readonly key: string
  readonly at: string
  readonly turns: T[]
}

/** Runs of turns of one day. A day comes twice when turns of it were sent late: the order is the list's. */
export function groupByDay<T extends { readonly endedAt: string }>(
  turns: readonly T[],
  timeZone?: string,
): DayGroup<T>[] {
  const groups: DayGroup<T>[] = []
  const seen = new Map<string, number>()
  let current = ''
  for (const turn of turns) {
    const day = dayOf(turn.endedAt, timeZone)
    if (day !== current) {
      const time = (seen.get(day) ?? 0) + 1
      seen.set(day, time)
      // The key does not depend on the turns, so a group stays, with the focus in it, when more come.
      groups.push({ key: `${day} ${time}`, at: turn.endedAt, turns: [] })
    }
    current = day
    groups.at(-1)?.turns.push(turn)
  }
  return groups
}
