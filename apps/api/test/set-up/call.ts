import { randomInt } from 'node:crypto'
import type { ErrorCode } from '@turnback/core'
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import { expect } from 'vitest'

export interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests read whatever came and say what they expect of it
  readonly json: any
  readonly text: string
  readonly headers: LightMyRequestResponse['headers']
}

export interface Ask {
  readonly body?: unknown
  readonly headers?: Record<string, string>
  readonly ip?: string
}

export async function call(
  app: FastifyInstance,
  method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH',
  url: string,
  ask: Ask = {},
): Promise<Answer> {
  const isBytes = ask.body instanceof Uint8Array
  const answer = await app.inject({
    method,
    url,
    // Each caller from an address of its own, unless it says which: limits by address are not what most tests are about.
    remoteAddress: ask.ip ?? `127.${byte()}.${byte()}.${byte()}`,
    headers: {
      ...(ask.body === undefined || isBytes ? {} : { 'content-type': 'application/json' }),
      ...ask.headers,
    },
    ...(ask.body === undefined
      ? {}
      : { payload: isBytes ? Buffer.from(ask.body as Uint8Array) : JSON.stringify(ask.body) }),
  })
  const isJson = String(answer.headers['content-type'] ?? '').includes('json')
  return {
    status: answer.statusCode,
    json: isJson ? answer.json() : null,
    text: answer.body,
    headers: answer.headers,
  }
}

function byte(): number {
  return randomInt(1, 255)
}

/** The answer is this error, told as a problem. */
export function expectProblem(answer: Answer, status: number, code: ErrorCode): void {
  expect({ status: answer.status, code: answer.json?.code }).toEqual({ status, code })
  expect(answer.headers['content-type']).toContain('application/problem+json')
}
