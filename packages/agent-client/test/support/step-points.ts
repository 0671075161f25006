import { expect } from 'vitest'
import type { Step } from './fs-steps.ts'

/** Whether this is `pnpm test:long`. */
export const IS_LONG = process.env.TURNBACK_TEST_LONG === '1'

/** Spread over all of them; each once when there are no more than that. */
export function spread<T>(items: readonly T[], count: number): T[] {
  const stride = Math.max(1, items.length / count)
  return Array.from(
    { length: Math.min(items.length, count) },
    (_, i) => items[Math.floor(i * stride)],
  ).filter((item) => item !== undefined)
}

/** Every point is tried, whatever the others showed: what they have in common is where the fault is. */
export async function forAll<T>(points: readonly T[], tryOne: (point: T) => Promise<void>): Promise<void> {
  if (IS_LONG) console.info(`${points.length} points`)
  const failures: string[] = []
  for (const point of points) {
    try {
      await tryOne(point)
    } catch (error) {
      failures.push(error instanceof Error ? error.message : String(error))
    }
  }
  expect(failures, `${failures.length} of ${points.length}`).toEqual([])
}

/** For a person who reads where a test failed. */
export const describeStep = (steps: readonly Step[], at: number) =>
  `step ${at}: ${steps[at]?.call} ${steps[at]?.target.replace(/\s+/g, ' ').slice(0, 120)}`
