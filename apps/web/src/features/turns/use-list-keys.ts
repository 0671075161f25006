'use client'

import { type RefObject, useEffect } from 'react'

/** `j` and `k` go down and up the list by focus, so Enter opens and nothing else has to know; `/` searches. */
export function useListKeys(
  list: RefObject<HTMLElement | null>,
  search: RefObject<HTMLInputElement | null>,
): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return
      if (event.key === '/') {
        event.preventDefault()
        search.current?.focus()
        return
      }
      const step = event.key === 'j' ? 1 : event.key === 'k' ? -1 : 0
      if (step === 0) return
      event.preventDefault()
      focusStep(list.current, step)
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [list, search])
}

function focusStep(list: HTMLElement | null, step: 1 | -1): void {
  const links = [...(list?.querySelectorAll<HTMLElement>('[data-turn-link]') ?? [])]
  const at = document.activeElement instanceof HTMLElement ? links.indexOf(document.activeElement) : -1
  const next = at < 0 ? links[0] : links[Math.min(links.length - 1, Math.max(0, at + step))]
  next?.focus()
  next?.scrollIntoView({ block: 'nearest' })
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  )
}
