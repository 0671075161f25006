import { expect, test } from 'vitest'
import { ByteBudget } from './byte-budget.ts'

/** Work that ends when it is told to. */
function makeJobs(budget: ByteBudget, sizes: readonly number[]) {
  const running = new Set<number>()
  const ends: (() => void)[] = []
  const results = sizes.map((bytes, index) =>
    budget.run(bytes, async () => {
      running.add(index)
      await new Promise<void>((resolve) => {
        ends[index] = resolve
      })
      running.delete(index)
      return index
    }),
  )
  const end = async (index: number) => {
    ends[index]?.()
    await results[index]
    await new Promise(setImmediate)
  }
  return { running, results, end }
}

test('what is at work together stays within the budget, in the order it came', async () => {
  const { running, results, end } = makeJobs(new ByteBudget(100), [60, 40, 1, 100, 5])
  await new Promise(setImmediate)
  expect([...running]).toEqual([0, 1])
  await end(1)
  // The fifth would fit beside the first, but it came after the fourth.
  expect([...running]).toEqual([0, 2])
  await end(0)
  await end(2)
  expect([...running]).toEqual([3])
  await end(3)
  await end(4)
  expect(await Promise.all(results)).toEqual([0, 1, 2, 3, 4])
})

test('work bigger than the budget goes alone', async () => {
  const { running, end } = makeJobs(new ByteBudget(100), [1, 500, 1])
  await new Promise(setImmediate)
  expect([...running]).toEqual([0])
  await end(0)
  expect([...running]).toEqual([1])
  await end(1)
  expect([...running]).toEqual([2])
  await end(2)
})

test('work that fails gives back what it took', async () => {
  const budget = new ByteBudget(1)
  const fail = () => Promise.reject(new Error('no'))
  await expect(budget.run(1, fail)).rejects.toThrow('no')
  expect(await budget.run(1, async () => 'yes')).toBe('yes')
})
