import { Worker } from 'node:worker_threads'
import { DomainError } from '@turnback/core'
import type { SecretFinder } from '#capture-ports.ts'
import { needsScanner } from './secret-finder.ts'

export type SecretQuestion =
  | { readonly id: number; readonly ask: 'find'; readonly texts: readonly string[] }
  | { readonly id: number; readonly ask: 'mask'; readonly text: string }

export type SecretAnswer =
  | { readonly id: number; readonly found: readonly boolean[] }
  | { readonly id: number; readonly masked: string }
  | { readonly id: number; readonly trouble: string }

interface Waiting {
  take(answer: SecretAnswer): void
  fail(error: Error): void
}

/**
 * For a process that others wait for while a long text is searched. The thread is started by the first text; after one
 * that could not be started, or ended, the next text starts another. Both functions throw NOT_RECORDED then.
 */
export function createSecretThread(): SecretFinder & { close(): void } {
  const waiting = new Map<number, Waiting>()
  let worker: Worker | null = null
  let next = 0

  const end = (error: Error) => {
    worker = null
    for (const each of waiting.values()) each.fail(error)
    waiting.clear()
  }
  const start = (): Worker => {
    const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
    const made = new Worker(new URL(`./secret-worker.${ending}`, import.meta.url))
    made.unref()
    made.on('message', (answer: SecretAnswer) => {
      waiting.get(answer.id)?.take(answer)
      waiting.delete(answer.id)
    })
    made.on('error', end)
    made.on('exit', () => {
      if (worker === made) end(new Error('the search for secrets ended'))
    })
    return made
  }
  const ask = async (make: (id: number) => SecretQuestion): Promise<SecretAnswer> => {
    const id = next++
    const { promise, resolve, reject } = Promise.withResolvers<SecretAnswer>()
    waiting.set(id, { take: resolve, fail: reject })
    try {
      worker ??= start()
      worker.postMessage(make(id))
      const answer = await promise
      if ('trouble' in answer) throw new Error(answer.trouble)
      return answer
    } catch (cause) {
      waiting.delete(id)
      const why = cause instanceof Error ? cause.message : String(cause)
      throw new DomainError('NOT_RECORDED', { why, what: 'the search for secrets' }, { cause })
    }
  }
  return {
    async find(texts) {
      if (!texts.some(needsScanner)) return texts.map(() => false)
      const answer = await ask((id) => ({ id, ask: 'find', texts }))
      if (!('found' in answer)) throw new Error('invariant: the thread answers what it was asked')
      return answer.found
    },
    async mask(text) {
      if (!needsScanner(text)) return text
      const answer = await ask((id) => ({ id, ask: 'mask', text }))
      if (!('masked' in answer)) throw new Error('invariant: the thread answers what it was asked')
      return answer.masked
    },
    close() {
      const ended = worker
      worker = null
      void ended?.terminate()
    },
  }
}
