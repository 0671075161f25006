'use client'

import { useEffect, useState } from 'react'

/**
 * Takes a secret out of the address's fragment, and out of the address: history and screenshots keep none.
 * Null once it is known that there is none, undefined until then.
 * @param name of the field (`#name=secret`), or null when the whole fragment is the secret
 */
export function useSecretOfFragment(name: string | null): string | null | undefined {
  const [secret, setSecret] = useState<string | null | undefined>(undefined)
  useEffect(() => {
    const found = secretIn(window.location.hash, name)
    // In development effects run twice; the second run must not forget what the first one took away.
    setSecret((before) => found ?? before ?? null)
    if (found !== null) {
      window.history.replaceState(
        window.history.state,
        '',
        `${window.location.pathname}${window.location.search}`,
      )
    }
  }, [name])
  return secret
}

/** The secret in a fragment, or null. */
export function secretIn(hash: string, name: string | null): string | null {
  const text = hash.replace(/^#/, '')
  const fields = new URLSearchParams(text)
  const value = name === null ? (fields.get('code') ?? (text.includes('=') ? null : text)) : fields.get(name)
  return value === null || value === '' ? null : value
}
