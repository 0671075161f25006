import { chooseCut, type RetentionInput, type WorkspaceId } from '@turnback/core'
import type { BlobMarks } from './blob-marks.ts'

const DAY_MS = 86_400_000

export interface Limits {
  readonly retentionDays: number
  readonly retentionTurns: number
  readonly budgetBytes: number
}

export type Inputs = ReadonlyMap<WorkspaceId, RetentionInput>

/**
 * Where each log is to be cut: by age and number of turns, and earlier turns of all workspaces alike until what is left
 * fits the budget.
 * @param otherBytes what the store takes beside its blobs
 */
export function chooseCuts(
  inputs: Inputs,
  limits: Limits,
  marks: BlobMarks,
  nowMs: number,
  otherBytes: number,
): Map<WorkspaceId, number> {
  const cutsAt = (beforeMs: number) => cutAll(inputs, beforeMs, limits.retentionTurns)
  const byAge = nowMs - limits.retentionDays * DAY_MS
  const cuts = cutsAt(byAge)
  const fits = (chosen: ReadonlyMap<WorkspaceId, number>): boolean => {
    marks.mark(chosen)
    return marks.markedBytes() + otherBytes <= limits.budgetBytes
  }
  if (fits(cuts)) return cuts
  const ends = [...inputs.values()].flatMap((input) => input.turns.flatMap((turn) => turn.endedMs ?? []))
  const moments = [...new Set(ends)].filter((end) => end >= byAge).sort((a, b) => a - b)
  // The earliest moment that makes enough room; each later one makes more.
  let [low, high] = [0, moments.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (fits(cutsAt((moments[middle] ?? 0) + 1))) high = middle
    else low = middle + 1
  }
  const last = moments[Math.min(low, moments.length - 1)]
  return last === undefined ? cuts : cutsAt(last + 1)
}

function cutAll(inputs: Inputs, beforeMs: number, turns: number): Map<WorkspaceId, number> {
  const cuts = new Map<WorkspaceId, number>()
  for (const [workspace, input] of inputs) {
    const cut = chooseCut(input, { beforeMs, turns })
    if (cut !== null) cuts.set(workspace, cut)
  }
  return cuts
}
