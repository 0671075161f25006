'use client'

import { useEffect } from 'react'

/** `j` and `k` go to the next and previous file of the page. */
export function useFileKeys(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.metaKey || event.ctrlKey || event.altKey) return
      const target = event.target
      if (target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return
      // A sheet that lies over the page has its own keys.
      if (document.querySelector('[role="dialog"]') !== null) return
      const step = event.key === 'j' ? 1 : event.key === 'k' ? -1 : 0
      if (step !== 0) goToFile(step)
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [])
}

function goToFile(step: 1 | -1): void {
  const sections = [...document.querySelectorAll<HTMLElement>('[data-file-section]')]
  const at = sections.findLastIndex((section) => section.getBoundingClientRect().top <= 24)
  const next = sections[step === 1 ? at + 1 : Math.max(0, at - 1)]
  next?.scrollIntoView({ block: 'start' })
  next?.querySelector<HTMLElement>('h3 a')?.focus({ preventScroll: true })
}
