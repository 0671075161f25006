import type { Route } from '@turnback/core/api'
import type { FastifyReply } from 'fastify'
import type { z } from 'zod'

/** An answer that is not JSON by a schema: bytes of a file, a patch. */
export class BytesAnswer {
  readonly contentType: string
  readonly bytes: Uint8Array | string
  readonly headers: Readonly<Record<string, string>>

  constructor(contentType: string, bytes: Uint8Array | string, headers: Record<string, string> = {}) {
    this.contentType = contentType
    this.bytes = bytes
    this.headers = headers
  }
}

/** The caller has the answer already. */
export class NotModified {}

/** What goes over the wire. */
export interface WrittenAnswer {
  readonly status: number
  /** Null when there is no body. */
  readonly contentType: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | string
}

/** @throws an error of ours when the answer does not fit the contract */
export function writeAnswer(route: Route, answer: unknown): WrittenAnswer {
  if (answer instanceof NotModified) return { status: 304, contentType: null, headers: {}, body: '' }
  if (answer instanceof BytesAnswer)
    return { status: 200, contentType: answer.contentType, headers: answer.headers, body: answer.bytes }
  const status = route.status ?? 200
  if (route.response === null || route.response === 'bytes')
    return { status, contentType: null, headers: {}, body: '' }
  const body = JSON.stringify(filter(route.response, answer))
  return { status, contentType: 'application/json; charset=utf-8', headers: {}, body }
}

export async function sendAnswer(reply: FastifyReply, answer: WrittenAnswer): Promise<void> {
  reply.code(answer.status).headers(answer.headers)
  if (answer.contentType === null) await reply.send()
  else await reply.type(answer.contentType).send(answer.body)
}

/** What the schema does not name goes no further. An answer that does not fit it is a fault of ours. */
function filter(schema: z.ZodType, answer: unknown): unknown {
  const filtered = schema.safeParse(answer)
  if (!filtered.success) throw new Error('an answer does not fit its contract', { cause: filtered.error })
  return filtered.data
}
