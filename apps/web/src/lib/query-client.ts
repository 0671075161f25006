import { QueryCache, QueryClient } from '@tanstack/react-query'
import { isApiError } from './api.ts'

const listeners = new Set<() => void>()

/** Calls back whenever an answer says that nobody is signed in. Gives the way to stop. */
export function onSignedOut(listener: () => void): () => void {
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
  }
}

/** Only what may pass by itself is tried again: no answer, or an overloaded or restarting service. */
export function mayPass(error: unknown): boolean {
  if (!isApiError(error)) return false
  return (
    error.code === 'SERVER_UNREACHABLE' ||
    error.code === 'STORAGE_UNAVAILABLE' ||
    error.code === 'RATE_LIMITED'
  )
}

export function makeQueryClient(): QueryClient {
  return new QueryClient({
    queryCache: new QueryCache({
      onError: (error) => {
        if (isApiError(error, 'UNAUTHENTICATED')) for (const listener of listeners) listener()
      },
    }),
    defaultOptions: {
      queries: {
        staleTime: 10_000,
        retry: (failures, error) => failures < 2 && mayPass(error),
        retryDelay: (attempt) => Math.min(8_000, 600 * 2 ** attempt),
      },
      mutations: { retry: false },
    },
  })
}
