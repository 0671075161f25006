'use client'

import { useEffect, useState } from 'react'

/**
 * Takes a one-time secret out of the address's fragment, and out of the address: history and screenshots
 * keep none. Null once it is known that there is none, undefined until then.
 */
export function useSecretOfFragment(): string | null | undefined {
  const [secret, setSecret] = useState<string | null | undefined>(undefined)
  useEffect(() => {
    const found = secretIn(window.location.hash)
    // In development effects run twice; the second run must not forget what the first one took away.
    setSecret((before) => found ?? before ?? null)
    if (found !== null) {
      window.history.replaceState(
        window.history.state,
        '',
        `${window.location.pathname}${window.location.search}`,
      )
    }
  }, [])
  return secret
}

/** The secret in a fragment, `#secret`, `#code=secret` or `#token=secret`; null when there is none. */
export function secretIn(hash: string): string | null {
  const text = hash.replace(/^#/, '')
  if (!text.includes('=')) return text === '' ? null : text
  const fields = new URLSearchParams(text)
  return fields.get('code') || fields.get('token') || null
}
