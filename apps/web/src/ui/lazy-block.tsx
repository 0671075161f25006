'use client'

import { type ReactNode, useEffect, useRef, useState } from 'react'

interface LazyBlockProps {
  /** Height to hold while what is inside was never drawn. */
  readonly estimatePx: number
  /** Drawn at once and kept, wherever it is. */
  readonly isForced?: boolean
  readonly className?: string
  readonly children: () => ReactNode
}

/** How far outside of the window things are drawn already. */
const MARGIN = '1200px 0px'

/**
 * Draws what is inside only near the window and holds its height elsewhere, so that a page of any length
 * stays small. Unlike a virtual list it leaves scrolling, focus and links to the browser.
 */
export function LazyBlock({ estimatePx, isForced = false, className, children }: LazyBlockProps) {
  const ref = useRef<HTMLDivElement>(null)
  const [isNear, setIsNear] = useState(false)
  const [height, setHeight] = useState(estimatePx)
  useEffect(() => {
    const element = ref.current
    if (element === null) return
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (entry === undefined) return
        if (!entry.isIntersecting) {
          // Someone who works inside keeps it: their focus must not vanish.
          if (element.contains(document.activeElement)) return
          const drawn = element.dataset.drawn === 'true' ? entry.boundingClientRect.height : 0
          if (drawn > 0) setHeight(drawn)
        }
        setIsNear(entry.isIntersecting)
      },
      { rootMargin: MARGIN },
    )
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  const isDrawn = isNear || isForced
  return (
    <div ref={ref} data-drawn={isDrawn} className={className} style={isDrawn ? undefined : { height }}>
      {isDrawn && children()}
    </div>
  )
}
