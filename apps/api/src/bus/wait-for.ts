import type { Bus, BusListener } from './bus.ts'

/**
 * Waits until `read` gives something, reading again at each message that `concerns` it, and at last when the
 * time is over. Subscribes before it reads, so nothing can fall between.
 * @returns what `read` gave, or its last answer when `isEnough` never said yes
 */
export async function waitFor<T>(
  bus: Bus,
  options: {
    readonly timeoutMs: number
    readonly signal: AbortSignal
    concerns(message: Parameters<BusListener>[0]): boolean
    read(): Promise<T>
    isEnough(answer: T): boolean
  },
): Promise<T> {
  let wake: () => void = () => undefined
  let isNews = false
  const unsubscribe = bus.subscribe((message) => {
    if (message.type !== 'gap' && !options.concerns(message)) return
    isNews = true
    wake()
  })
  const end = AbortSignal.any([options.signal, AbortSignal.timeout(options.timeoutMs)])
  try {
    for (;;) {
      isNews = false
      const answer = await options.read()
      if (options.isEnough(answer) || end.aborted) return answer
      if (isNews) continue
      await new Promise<void>((resolve) => {
        wake = resolve
        end.addEventListener('abort', () => resolve(), { once: true })
      })
    }
  } finally {
    unsubscribe()
  }
}
