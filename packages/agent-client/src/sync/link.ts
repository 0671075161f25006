import { limits, type MachineMessage, type ServerMessage, serverMessageSchema } from '@turnback/core'
import { type RawData, WebSocket } from 'ws'
import type { Caller } from './caller.ts'

export interface LinkParts {
  readonly caller: Caller
  /** Said first, on every connection. */
  hello(): MachineMessage
  onOpen(): void
  /** May answer by `say`; what it does takes its own time. */
  onMessage(message: ServerMessage, say: (message: MachineMessage) => void): void
}

/** How a link came to its end. */
export interface LinkEnd {
  readonly wasOpen: boolean
  readonly why: 'aborted' | 'closed' | 'failed' | 'silent' | 'foreign-message' | 'refused'
  readonly detail: string
}

const LINK_PATH = '/v1/machines/link'
const HANDSHAKE_MS = 10_000
/** A link that is silent for longer than two of these is dead, whatever the system believes of it. */
const HEARTBEAT_MS = 20_000
const POLICY_VIOLATION = 1008

/**
 * Holds one connection until it ends, and says how. A message that is not of the closed set ends it: a service
 * that says other things is not to be talked to.
 */
export function holdLink(parts: LinkParts, signal: AbortSignal): Promise<LinkEnd> {
  const { promise, resolve } = Promise.withResolvers<LinkEnd>()
  const url = new URL(parts.caller.server.pathname.replace(/\/$/, '') + LINK_PATH, parts.caller.server)
  const socket = new WebSocket(url.href.replace(/^http/, 'ws'), {
    headers: parts.caller.authorize('GET', url.pathname),
    handshakeTimeout: HANDSHAKE_MS,
    maxPayload: limits.socketFrameBytes,
    perMessageDeflate: false,
    followRedirects: false,
  })
  let end: LinkEnd = { wasOpen: false, why: 'failed', detail: '' }
  const finish = (why: LinkEnd['why'], detail: string) => {
    end = { ...end, why, detail }
  }
  const say = (message: MachineMessage) => {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message))
  }
  const onAbort = () => {
    finish('aborted', '')
    socket.terminate()
  }
  const heartbeat = beat(socket, () => finish('silent', 'no answer to a ping'))
  signal.addEventListener('abort', onAbort)
  if (signal.aborted) onAbort()

  socket.on('open', () => {
    end = { wasOpen: true, why: 'closed', detail: '' }
    say(parts.hello())
    parts.onOpen()
  })
  socket.on('message', (data, isBinary) => {
    if (end.why === 'foreign-message') return
    const message = isBinary ? null : parseServerMessage(data)
    if (message === null) {
      finish('foreign-message', describe(data))
      socket.close(POLICY_VIOLATION, 'not a message of the set')
      return
    }
    if (message.type === 'ping') say({ type: 'pong' })
    parts.onMessage(message, say)
  })
  socket.on('unexpected-response', (_, response) => {
    const status = response.statusCode ?? 0
    // Anything else comes from something in between that does not know sockets.
    const isRefused = status === 401 || status === 403
    finish(isRefused ? 'refused' : 'failed', `HTTP ${status}`)
    socket.terminate()
  })
  socket.on('error', (error) => {
    if (end.detail === '' && (end.why === 'failed' || end.why === 'closed')) finish(end.why, error.message)
  })
  socket.on('close', (code) => {
    heartbeat.stop()
    signal.removeEventListener('abort', onAbort)
    resolve(end.detail === '' ? { ...end, detail: `close code ${code}` } : end)
  })
  return promise
}

/** The message, or null when it is none of the set or not exactly in its shape. */
function parseServerMessage(data: RawData): ServerMessage | null {
  let value: unknown
  try {
    value = JSON.parse(toText(data))
  } catch {
    return null
  }
  const parsed = serverMessageSchema.safeParse(value)
  return parsed.success ? parsed.data : null
}

function toText(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString('utf8')
  return Buffer.isBuffer(data) ? data.toString('utf8') : Buffer.from(data).toString('utf8')
}

/** For the log: what kind of message it claims to be, cut short; never its contents. */
function describe(data: RawData): string {
  const [, type] = /"type"\s*:\s*"([\w.-]{1,40})"/.exec(toText(data).slice(0, 4096)) ?? []
  return type === undefined ? 'no type' : `type ${type}`
}

function beat(socket: WebSocket, onSilence: () => void): { stop(): void } {
  let heard = true
  const note = () => {
    heard = true
  }
  for (const event of ['message', 'pong', 'ping'] as const) socket.on(event, note)
  const timer = setInterval(() => {
    if (socket.readyState !== WebSocket.OPEN) return
    if (!heard) {
      onSilence()
      socket.terminate()
      return
    }
    heard = false
    socket.ping()
  }, HEARTBEAT_MS)
  return { stop: () => clearInterval(timer) }
}
