const HOLD_MS = 2_000

/**
 * Scrolls an element to the top and keeps it there while what lies above it is still being drawn, until
 * the reader scrolls. Gives the way to stop.
 */
export function holdInView(element: HTMLElement): () => void {
  const stop = new AbortController()
  const align = () => {
    if (!stop.signal.aborted) element.scrollIntoView({ block: 'start' })
  }
  align()
  const observer = new ResizeObserver(align)
  observer.observe(document.body)
  const end = () => {
    stop.abort()
    observer.disconnect()
    clearTimeout(timer)
  }
  const timer = setTimeout(end, HOLD_MS)
  for (const type of ['wheel', 'touchstart', 'keydown', 'pointerdown'] as const) {
    window.addEventListener(type, end, { signal: stop.signal, passive: true })
  }
  return end
}
