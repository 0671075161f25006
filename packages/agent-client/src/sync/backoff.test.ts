import { expect, it } from 'vitest'
import { makeBackoff } from './backoff.ts'

const bounds = { firstMs: 200, ceilingMs: 5_000 }

it('doubles to the ceiling, half of it by chance, and begins again after a success', () => {
  const low = makeBackoff(bounds, () => 0)
  expect([1, 2, 3, 4, 5, 6, 7].map(() => low.nextMs())).toEqual([100, 200, 400, 800, 1600, 2500, 2500])
  low.reset()
  expect(low.nextMs()).toBe(100)
  const high = makeBackoff(bounds, () => 0.999999)
  expect([1, 2, 3, 4, 5, 6, 7].map(() => high.nextMs())).toEqual([200, 400, 800, 1600, 3200, 5000, 5000])
})
