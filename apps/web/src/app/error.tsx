'use client'

import { useEffect } from 'react'
import { describeError } from '#lib/errors.ts'
import { ErrorState } from '#ui/error-state.tsx'

/** The last stop for faults of the page itself. */
export default function PageError({ error, reset }: { error: Error; reset: () => void }) {
  useEffect(() => {
    // The browser's console is the only log a page has.
    reportError(error)
  }, [error])
  return <ErrorState {...describeError(error)} onRetry={reset} />
}
