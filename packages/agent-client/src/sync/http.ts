import { randomUUID } from 'node:crypto'
import { type Agent, Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { DomainError } from '@turnback/core'

/** One request as bytes. The body comes in pieces, so that a pack need not be copied together to be sent. */
export interface HttpRequest {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: readonly Uint8Array[]
  /** Longest silence on the connection, and longest wait for an answer. Milliseconds. */
  readonly idleMs: number
  readonly signal?: AbortSignal | undefined
}

export interface HttpAnswer {
  readonly status: number
  readonly contentType: string
  readonly retryAfterSeconds: number | null
  readonly requestId: string | null
  readonly body: Buffer
}

export interface HttpSender {
  /** Redirects are not followed. @throws SERVER_UNREACHABLE when no whole answer came */
  send(request: HttpRequest): Promise<HttpAnswer>
  close(): void
}

/** No answer to a machine is larger; a peer that says more is no Turnback service. */
const ANSWER_BYTES = 32 * 1024 * 1024

/** Keeps its connections open between requests, until closed. */
export function makeHttpSender(): HttpSender {
  const options = { keepAlive: true, maxSockets: 4, scheduling: 'lifo' } as const
  const plain = new HttpAgent(options)
  const secure = new HttpsAgent(options)
  return {
    send: (request) => sendOnce(request, request.url.protocol === 'https:' ? secure : plain),
    close() {
      plain.destroy()
      secure.destroy()
    },
  }
}

/** The error for a service that cannot be reached; `why` is the system's own code or words. */
function unreachable(url: URL, why: string, cause?: unknown): DomainError {
  return new DomainError(
    'SERVER_UNREACHABLE',
    { server: url.origin, why },
    cause === undefined ? undefined : { cause },
  )
}

function sendOnce(request: HttpRequest, agent: Agent): Promise<HttpAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>()
  const start = request.url.protocol === 'https:' ? requestHttps : requestHttp
  const outgoing = start(request.url, {
    method: request.method,
    agent,
    headers: { 'x-request-id': randomUUID(), ...request.headers, ...lengthOf(request) },
    ...(request.signal === undefined ? {} : { signal: request.signal }),
  })
  const fail = (error: unknown) => reject(unreachable(request.url, codeOf(error), error))
  outgoing.setTimeout(request.idleMs, () => outgoing.destroy(new Error('TIMEOUT')))
  outgoing.on('error', fail)
  outgoing.on('response', (answer) => {
    readAnswer(answer).then(resolve, (error: unknown) => {
      outgoing.destroy()
      fail(error)
    })
  })
  writeBody(outgoing, request.body).catch(fail)
  return promise
}

function lengthOf(request: HttpRequest): Record<string, string> {
  if (request.body.length === 0 && (request.method === 'GET' || request.method === 'DELETE')) return {}
  return { 'content-length': String(request.body.reduce((sum, piece) => sum + piece.length, 0)) }
}

async function writeBody(
  outgoing: ReturnType<typeof requestHttp>,
  pieces: readonly Uint8Array[],
): Promise<void> {
  for (const piece of pieces) {
    if (outgoing.destroyed || outgoing.writableEnded) return
    if (!outgoing.write(piece)) await drained(outgoing)
  }
  outgoing.end()
}

/** An answer before the body's end (413, 401) ends the writing too: nobody reads it any more. */
function drained(outgoing: ReturnType<typeof requestHttp>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const done = () => {
    for (const event of ['drain', 'close', 'response'] as const) outgoing.off(event, done)
    resolve()
  }
  for (const event of ['drain', 'close', 'response'] as const) outgoing.on(event, done)
  return promise
}

async function readAnswer(answer: IncomingMessage): Promise<HttpAnswer> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of answer) {
    const bytes = Buffer.from(piece)
    length += bytes.length
    if (length > ANSWER_BYTES) throw new Error('ANSWER_TOO_LARGE')
    pieces.push(bytes)
  }
  if (!answer.complete) throw new Error('ANSWER_CUT_OFF')
  const retryAfter = Number(answer.headers['retry-after'])
  const requestId = answer.headers['x-request-id']
  return {
    status: answer.statusCode ?? 0,
    contentType: answer.headers['content-type'] ?? '',
    retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : null,
    requestId: typeof requestId === 'string' ? requestId : null,
    body: Buffer.concat(pieces),
  }
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message
}
