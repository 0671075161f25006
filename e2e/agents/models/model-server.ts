/*
 * A stand-in for a model's service on the loopback device. A test says in advance what the model does, one step per
 * answer of a turn; what the agent asks besides (titles, summaries) gets a word and uses up no step.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Call {
  readonly tool: string
  /** A string for tools that take free text instead of fields. */
  readonly input: Readonly<Record<string, unknown>> | string
}

export type Step =
  | { readonly kind: 'say'; readonly text: string }
  | { readonly kind: 'call'; readonly call: Call }
  /** Says that it will not, from now on. */
  | { readonly kind: 'refuse' }

export const say = (text: string): Step => ({ kind: 'say', text })
export const call = (tool: string, input: Call['input']): Step => ({ kind: 'call', call: { tool, input } })
export const refuse = (): Step => ({ kind: 'refuse' })

/** What an agent asked. */
export interface Ask {
  readonly method: string
  readonly path: string
  readonly body: unknown
}

export interface Answer {
  readonly kind: 'say' | 'call'
  readonly text: string
  readonly call: Call | null
  /** Unlike that of any other answer. */
  readonly id: string
}

/** How one service's wire looks. */
export interface Protocol {
  /** Whether this asks the model to speak, and if so, in a turn (tools are offered) or aside. */
  classify(ask: Ask): 'turn' | 'aside' | 'other'
  /** Writes an answer as this asked for it, in one piece or as events, and ends the response. */
  write(response: ServerResponse, ask: Ask, answer: Answer): void
}

const REFUSED = { code: 400, message: 'This stand-in refuses.' }

export interface Model {
  readonly url: string
  readonly asked: readonly Ask[]
  /** How many steps of the script were not used. */
  readonly left: number
  /** Asked for in a turn after the script had ended. */
  readonly surplus: number
  close(): Promise<void>
}

export async function startModel(protocol: Protocol, script: readonly Step[]): Promise<Model> {
  const asked: Ask[] = []
  let used = 0
  let isRefusing = false
  let surplus = 0
  let answers = 0
  const server = createServer((request, response) => {
    // Who was killed in the middle of an answer reads no more of it.
    response.on('error', () => undefined)
    readBody(request).then(
      (body) => answer({ method: request.method ?? '', path: request.url ?? '', body }, response),
      () => response.destroy(),
    )
  })
  const answer = (ask: Ask, response: ServerResponse): void => {
    asked.push(ask)
    const kind = protocol.classify(ask)
    if (kind === 'other') {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":{"message":"not here"}}')
      return
    }
    const step = kind === 'aside' ? say('Aside.') : isRefusing ? refuse() : script[used]
    if (kind === 'turn' && !isRefusing) {
      if (step === undefined) surplus += 1
      else used += 1
      isRefusing = step?.kind === 'refuse'
    }
    answers += 1
    write(step ?? say('The script has ended.'), ask, response, `${answers}`)
  }
  const write = (step: Step, ask: Ask, response: ServerResponse, id: string): void => {
    switch (step.kind) {
      case 'refuse':
        response.writeHead(400, { 'content-type': 'application/json' })
        response.end(
          JSON.stringify({
            error: { ...REFUSED, type: 'invalid_request_error', status: 'INVALID_ARGUMENT' },
          }),
        )
        return
      case 'say':
        protocol.write(response, ask, { kind: 'say', text: step.text, call: null, id })
        return
      case 'call':
        protocol.write(response, ask, { kind: 'call', text: '', call: step.call, id })
        return
    }
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    get left() {
      return script.length - used
    },
    get surplus() {
      return surplus
    },
    close: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece)
  const text = Buffer.concat(pieces).toString()
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** A field of something that came over the wire; undefined when there is none. */
export function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

export function hasItems(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0
}

/** Starts a stream of server-sent events. Each has a name where the service names them. */
export function openEvents(response: ServerResponse): (data: unknown, name?: string) => void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  return (data, name) => {
    const text = typeof data === 'string' ? data : JSON.stringify(data)
    response.write(`${name === undefined ? '' : `event: ${name}\n`}data: ${text}\n\n`)
  }
}

export function endWithJson(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
