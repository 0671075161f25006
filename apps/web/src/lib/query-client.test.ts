import { expect, it, vi } from 'vitest'
import { ApiError } from './api.ts'
import { makeQueryClient, mayPass, onSignedOut } from './query-client.ts'

const failure = (code: string) => new ApiError(code, code, { status: 400 })

it('tries again only what may pass by itself', () => {
  expect(mayPass(failure('SERVER_UNREACHABLE'))).toBe(true)
  expect(mayPass(failure('FORBIDDEN'))).toBe(false)
  expect(mayPass(new Error('a fault of the page'))).toBe(false)
})

it('tells of a session that ended, and of nothing else', async () => {
  const told = vi.fn()
  const stop = onSignedOut(told)
  const fetchWith = (code: string) =>
    makeQueryClient()
      .fetchQuery({ queryKey: [code], queryFn: () => Promise.reject(failure(code)) })
      .catch(() => null)
  await fetchWith('FORBIDDEN')
  expect(told).not.toHaveBeenCalled()
  await fetchWith('UNAUTHENTICATED')
  expect(told).toHaveBeenCalledTimes(1)
  stop()
  await fetchWith('UNAUTHENTICATED')
  expect(told).toHaveBeenCalledTimes(1)
})
