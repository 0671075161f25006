import type { APIRequestContext } from '@playwright/test'
import type { Route, RouteInput, RouteResult } from '@turnback/core/api'

type Given<R extends Route> = {
  [K in keyof RouteInput<R> as RouteInput<R>[K] extends undefined ? never : K]: RouteInput<R>[K]
}

/** Calls a route of the contract and checks its answer against it. @throws when the answer is no success */
export async function call<R extends Route>(
  rest: APIRequestContext,
  route: R,
  input: Given<R>,
): Promise<RouteResult<R>> {
  const given: { params?: Record<string, string>; query?: Record<string, string>; body?: unknown } = input
  const path = route.path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(given.params?.[name] ?? ''))
  const answer = await rest.fetch(path, {
    method: route.method,
    ...(given.query ? { params: given.query } : {}),
    ...(given.body === undefined ? {} : { data: given.body }),
  })
  if (!answer.ok()) throw new Error(`${route.method} ${path}: ${answer.status()} ${await answer.text()}`)
  if (route.response === null || route.response === 'bytes')
    throw new Error(`${route.path} answers with no JSON`)
  return route.response.parse(await answer.json()) as RouteResult<R>
}
