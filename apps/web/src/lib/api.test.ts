import { routes } from '@turnback/core/api'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { callApi, isApiError, urlOf } from './api.ts'

afterEach(() => vi.unstubAllGlobals())

function answerWith(body: string, init: ResponseInit = {}): void {
  vi.stubGlobal('fetch', async () => new Response(body, init))
}

async function failureOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => null,
    (error: unknown) => error,
  )
}

describe('urlOf', () => {
  it('escapes parameters whole, slashes too', () => {
    expect(
      urlOf('/v1/turns/{turn}/files/{path}', { turn: 't_1', path: 'a/b c?#.ts' }, { side: 'after' }),
    ).toBe('/v1/turns/t_1/files/a%2Fb%20c%3F%23.ts?side=after')
  })

  it('leaves out query fields that are not given', () => {
    expect(urlOf('/v1/x', {}, { q: undefined, kind: '', limit: 0 })).toBe('/v1/x?limit=0')
  })
})

describe('callApi', () => {
  it('gives what the contract promises', async () => {
    answerWith(JSON.stringify({ status: 'ok', version: '1', extra: true }))
    expect(await callApi(routes.getHealth, {})).toEqual({ status: 'ok', version: '1' })
  })

  it('refuses an answer of another form', async () => {
    answerWith(JSON.stringify({ status: 'fine' }))
    expect(isApiError(await failureOf(callApi(routes.getHealth, {})), 'PAGE_OUTDATED')).toBe(true)
  })

  it('reads the code of a problem', async () => {
    answerWith(JSON.stringify({ type: 'x', title: 'x', status: 409, code: 'TOKEN_STALE', detail: 'old' }), {
      status: 409,
    })
    const error = await failureOf(callApi(routes.getHealth, {}))
    expect(isApiError(error, 'TOKEN_STALE')).toBe(true)
  })

  it.each([
    [502, 'SERVER_UNREACHABLE'],
    [401, 'UNAUTHENTICATED'],
    [429, 'RATE_LIMITED'],
    [500, 'INTERNAL'],
  ])('makes a code of a %i without a problem', async (status, code) => {
    answerWith('<html>', { status, headers: { 'retry-after': '3' } })
    expect(isApiError(await failureOf(callApi(routes.getHealth, {})), code)).toBe(true)
  })

  it('says so when there is no answer or half of one', async () => {
    vi.stubGlobal('fetch', async () => {
      throw new TypeError('failed')
    })
    expect(isApiError(await failureOf(callApi(routes.getHealth, {})), 'SERVER_UNREACHABLE')).toBe(true)
    answerWith('{"status":')
    expect(isApiError(await failureOf(callApi(routes.getHealth, {})), 'SERVER_UNREACHABLE')).toBe(true)
  })

  it('lets an abort through as what it is', async () => {
    const stop = new AbortController()
    stop.abort()
    vi.stubGlobal('fetch', async () => {
      throw new DOMException('aborted', 'AbortError')
    })
    const error = await failureOf(callApi(routes.getHealth, {}, { signal: stop.signal }))
    expect(isApiError(error)).toBe(false)
  })
})
