'use client'

import type { QueryClient } from '@tanstack/react-query'
import type { ProjectId } from '@turnback/core'
import { type LiveNews, type LiveRequest, liveNewsSchema, routes } from '@turnback/core/api'
import {
  createContext,
  createElement,
  type ReactNode,
  use,
  useEffect,
  useState,
  useSyncExternalStore,
} from 'react'

export type LiveState = 'idle' | 'connecting' | 'live' | 'waiting'

/** What is read again on each kind of news, by the first part of the query's key. */
const readAgain: Readonly<Record<'turn' | 'restore' | 'machine', readonly string[]>> = {
  turn: [
    routes.listTurns.path,
    routes.getTurn.path,
    routes.listProjects.path,
    routes.getProject.path,
    routes.listMachines.path,
  ],
  restore: [routes.getRestore.path, routes.listRestores.path, routes.listTurns.path, routes.getTurn.path],
  machine: [routes.listMachines.path, routes.getTurn.path, routes.listTurns.path, routes.getRestore.path],
}

/** A burst of news leads to one reading. */
const GATHER_MS = 250
const FIRST_RETRY_MS = 500
const LAST_RETRY_MS = 15_000

/** The socket that carries news. It holds no data: what it misses costs time only, REST is complete. */
export class LiveLink {
  readonly #queryClient: QueryClient
  readonly #projects = new Map<ProjectId, number>()
  readonly #listeners = new Set<() => void>()
  readonly #stale = new Set<string>()
  #socket: WebSocket | null = null
  #state: LiveState = 'idle'
  #failures = 0
  #wasLive = false
  #gathering: ReturnType<typeof setTimeout> | null = null
  #retry: ReturnType<typeof setTimeout> | null = null

  constructor(queryClient: QueryClient) {
    this.#queryClient = queryClient
  }

  readonly getState = (): LiveState => this.#state

  readonly onState = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
    }
  }

  /** Follows a project's news until the given function is called. */
  follow(project: ProjectId): () => void {
    const count = this.#projects.get(project) ?? 0
    this.#projects.set(project, count + 1)
    if (this.#socket === null && this.#retry === null) this.#connect()
    else if (count === 0) this.#say({ type: 'subscribe', project })
    return () => this.#unfollow(project)
  }

  #unfollow(project: ProjectId): void {
    const count = (this.#projects.get(project) ?? 1) - 1
    if (count > 0) {
      this.#projects.set(project, count)
      return
    }
    this.#projects.delete(project)
    this.#say({ type: 'unsubscribe', project })
    if (this.#projects.size === 0) this.close()
  }

  /** Tries at once instead of waiting for the next try: the network came back, or the page is looked at again. */
  readonly wake = (): void => {
    if (this.#projects.size === 0 || this.#socket !== null) return
    if (this.#retry !== null) clearTimeout(this.#retry)
    this.#retry = null
    this.#connect()
  }

  close(): void {
    if (this.#retry !== null) clearTimeout(this.#retry)
    this.#retry = null
    const socket = this.#socket
    this.#socket = null
    socket?.close()
    this.#setState('idle')
  }

  #connect(): void {
    this.#setState('connecting')
    const url = new URL('/v1/live', window.location.href)
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
    const socket = new WebSocket(url)
    this.#socket = socket
    socket.onopen = () => {
      for (const project of this.#projects.keys()) this.#say({ type: 'subscribe', project })
    }
    socket.onmessage = (event: MessageEvent<unknown>) => {
      if (socket === this.#socket) this.#hear(event.data)
    }
    socket.onclose = () => {
      if (socket === this.#socket) this.#lost()
    }
  }

  #lost(): void {
    this.#socket = null
    this.#setState('waiting')
    const wait = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** this.#failures)
    this.#failures += 1
    this.#retry = setTimeout(
      () => {
        this.#retry = null
        this.#connect()
      },
      wait * (0.75 + Math.random() / 2),
    )
  }

  #hear(text: unknown): void {
    const news = parseNews(text)
    // Words of a newer server are no news to this page.
    if (news === null) return
    switch (news.type) {
      case 'ping':
        this.#say({ type: 'pong' })
        return
      case 'subscribed':
        this.#subscribed()
        return
      case 'turn':
      case 'restore':
      case 'machine':
        for (const path of readAgain[news.type]) this.#gather(path)
        return
    }
  }

  #subscribed(): void {
    this.#failures = 0
    // What happened while the link was down is not told again, so everything shown is read again.
    if (this.#wasLive && this.#state !== 'live') void this.#queryClient.invalidateQueries()
    this.#wasLive = true
    this.#setState('live')
  }

  #gather(path: string): void {
    this.#stale.add(path)
    this.#gathering ??= setTimeout(() => {
      this.#gathering = null
      const stale = new Set(this.#stale)
      this.#stale.clear()
      void this.#queryClient.invalidateQueries({ predicate: (query) => stale.has(String(query.queryKey[0])) })
    }, GATHER_MS)
  }

  #say(request: LiveRequest): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(request))
  }

  #setState(state: LiveState): void {
    if (this.#state === state) return
    this.#state = state
    for (const listener of this.#listeners) listener()
  }
}

export function parseNews(text: unknown): LiveNews | null {
  if (typeof text !== 'string') return null
  try {
    return liveNewsSchema.parse(JSON.parse(text))
  } catch {
    return null
  }
}

const LiveContext = createContext<LiveLink | null>(null)

export function LiveProvider({ queryClient, children }: { queryClient: QueryClient; children: ReactNode }) {
  const [link] = useState(() => new LiveLink(queryClient))
  useEffect(() => {
    const onVisible = () => {
      if (document.visibilityState === 'visible') link.wake()
    }
    window.addEventListener('online', link.wake)
    document.addEventListener('visibilitychange', onVisible)
    return () => {
      window.removeEventListener('online', link.wake)
      document.removeEventListener('visibilitychange', onVisible)
      link.close()
    }
  }, [link])
  return createElement(LiveContext, { value: link }, children)
}

function useLink(): LiveLink {
  const link = use(LiveContext)
  if (link === null) throw new Error('LiveProvider is missing above')
  return link
}

/** Keeps what is shown of these projects up to date while the component is on the page. */
export function useLiveProjects(projects: readonly ProjectId[]): void {
  const link = useLink()
  const key = projects.join(' ')
  // The joined ids stand for the list, which is new on each render.
  useEffect(() => {
    const stops = projects.map((project) => link.follow(project))
    return () => {
      for (const stop of stops) stop()
    }
  }, [link, key])
}

export function useLiveState(): LiveState {
  const link = useLink()
  return useSyncExternalStore(link.onState, link.getState, () => 'idle')
}
