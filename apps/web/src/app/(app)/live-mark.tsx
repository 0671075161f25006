'use client'

import { onlineManager } from '@tanstack/react-query'
import { CloudOff } from 'lucide-react'
import { useSyncExternalStore } from 'react'
import { type LiveState, useLiveState } from '#lib/live.ts'

const words: Readonly<Record<LiveState, string>> = {
  idle: '',
  connecting: 'Connecting',
  live: 'Live',
  waiting: 'Reconnecting',
}

/** Whether what is shown keeps itself up to date. */
export function LiveMark() {
  const state = useLiveState()
  const text = words[state]
  if (text === '') return null
  const isLive = state === 'live'
  return (
    <span
      role="status"
      title={isLive ? 'News arrive as they happen.' : 'No live link at the moment; it is being made again.'}
      className="inline-flex items-center gap-1.5 px-1 text-xs text-muted"
    >
      <span
        aria-hidden="true"
        className={`size-2 rounded-full ${isLive ? 'bg-add' : 'animate-pulse border-[1.5px] border-warn'}`}
      />
      <span className="sr-only sm:not-sr-only">{text}</span>
    </span>
  )
}

export function OfflineStrip() {
  const isOnline = useSyncExternalStore(
    (listener) => onlineManager.subscribe(listener),
    () => onlineManager.isOnline(),
    () => true,
  )
  if (isOnline) return null
  return (
    <p
      role="status"
      className="flex items-center justify-center gap-2 border-b border-warn-line bg-warn-bg px-3 py-2 text-[0.8125rem]"
    >
      <CloudOff className="size-4 shrink-0 text-warn" aria-hidden="true" />
      You are offline. What was loaded stays; it is brought up to date when the network is back.
    </p>
  )
}
