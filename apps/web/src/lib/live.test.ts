import { QueryClient } from '@tanstack/react-query'
import { routes } from '@turnback/core/api'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { LiveLink, parseNews } from './live.ts'

const project = 'p_00000000000000000000000000'
const turn = 't_00000000000000000000000000'

/** Stands for the browser's socket, so that a link can be cut at will. */
class CutSocket {
  static readonly OPEN = 1
  static made: CutSocket[] = []
  readyState = 0
  readonly said: unknown[] = []
  onopen: (() => void) | null = null
  onmessage: ((event: { data: string }) => void) | null = null
  onclose: (() => void) | null = null

  constructor() {
    CutSocket.made.push(this)
  }

  send(text: string): void {
    this.said.push(JSON.parse(text))
  }

  close(): void {
    this.onclose?.()
  }

  open(): void {
    this.readyState = CutSocket.OPEN
    this.onopen?.()
    this.hear({ type: 'subscribed', project })
  }

  hear(news: unknown): void {
    this.onmessage?.({ data: JSON.stringify(news) })
  }
}

beforeEach(() => {
  CutSocket.made = []
  vi.useFakeTimers()
  vi.stubGlobal('WebSocket', CutSocket)
  vi.stubGlobal('window', { location: { href: 'https://turnback.example/x' } })
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

function follow() {
  const client = new QueryClient()
  const keys = [[routes.listTurns.path], [routes.getMe.path]]
  for (const key of keys) client.setQueryData(key, 1)
  const isStale = (key: readonly string[]) => client.getQueryState(key)?.isInvalidated
  const link = new LiveLink(client)
  const stop = link.follow(project)
  return { link, stop, stale: () => keys.map(isStale) }
}

it('asks for the project’s news and reads again what they are about, once for a burst', async () => {
  const { link, stale } = follow()
  const [socket] = CutSocket.made
  socket?.open()
  expect(socket?.said).toEqual([{ type: 'subscribe', project }])
  expect(link.getState()).toBe('live')
  for (let i = 0; i < 5; i++) socket?.hear({ type: 'turn', project, turn })
  expect(stale()).toEqual([false, false])
  await vi.advanceTimersByTimeAsync(300)
  expect(stale()).toEqual([true, false])
})

it('reads everything again after the link was cut: what was missed is not told twice', async () => {
  const { link, stale } = follow()
  CutSocket.made[0]?.open()
  CutSocket.made[0]?.close()
  expect(link.getState()).toBe('waiting')
  await vi.advanceTimersByTimeAsync(1_000)
  CutSocket.made[1]?.open()
  expect(link.getState()).toBe('live')
  expect(stale()).toEqual([true, true])
})

it('answers pings and lets go when nobody follows', () => {
  const { link, stop } = follow()
  const [socket] = CutSocket.made
  socket?.open()
  socket?.hear({ type: 'ping' })
  expect(socket?.said.at(-1)).toEqual({ type: 'pong' })
  stop()
  expect(link.getState()).toBe('idle')
  vi.advanceTimersByTime(60_000)
  expect(CutSocket.made).toHaveLength(1)
})

it('takes words that it does not know for no news', () => {
  expect(parseNews('{"type":"dance"}')).toBeNull()
  expect(parseNews('{')).toBeNull()
  expect(parseNews(new ArrayBuffer(2))).toBeNull()
})
