'use client'

import { useEffect, useRef } from 'react'
import { Button } from './button.tsx'

interface MoreAtEndProps {
  readonly hasMore: boolean
  readonly isLoading: boolean
  readonly onMore: () => unknown
  readonly label?: string
}

/** The end of a list: reads on when it comes near the window, and by a button where nothing scrolls. */
export function MoreAtEnd({ hasMore, isLoading, onMore, label = 'Load more' }: MoreAtEndProps) {
  const ref = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = ref.current
    if (element === null || !hasMore || isLoading) return
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) onMore()
      },
      { rootMargin: '800px 0px' },
    )
    observer.observe(element)
    return () => observer.disconnect()
  }, [hasMore, isLoading, onMore])
  if (!hasMore) return null
  return (
    <div ref={ref} className="flex justify-center py-6">
      <Button onClick={() => onMore()} isBusy={isLoading}>
        {label}
      </Button>
    </div>
  )
}
