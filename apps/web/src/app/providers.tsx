'use client'

import { CSPProvider } from '@base-ui/react/csp-provider'
import { QueryClientProvider } from '@tanstack/react-query'
import { usePathname, useRouter } from 'next/navigation'
import { ThemeProvider } from 'next-themes'
import { type ReactNode, useEffect, useState } from 'react'
import { LiveProvider } from '#lib/live.ts'
import { paths } from '#lib/paths.ts'
import { makeQueryClient, onSignedOut } from '#lib/query-client.ts'
import { Toasts } from '#ui/toast.tsx'

export function Providers({ nonce, children }: { nonce: string; children: ReactNode }) {
  const [queryClient] = useState(makeQueryClient)
  return (
    <ThemeProvider
      attribute="data-theme"
      defaultTheme="system"
      enableSystem
      disableTransitionOnChange
      nonce={nonce}
    >
      <CSPProvider nonce={nonce}>
        <QueryClientProvider client={queryClient}>
          <LiveProvider queryClient={queryClient}>
            <SignedOutGuard />
            {children}
          </LiveProvider>
          <Toasts />
        </QueryClientProvider>
      </CSPProvider>
    </ThemeProvider>
  )
}

/** Any answer that says "not signed in" leads to the sign-in page, and from there back. */
function SignedOutGuard() {
  const router = useRouter()
  const pathname = usePathname()
  useEffect(
    () =>
      onSignedOut(() => {
        if (pathname === paths.login() || pathname === paths.setUp()) return
        router.replace(
          paths.login(`${window.location.pathname}${window.location.search}${window.location.hash}`),
        )
      }),
    [pathname, router],
  )
  return null
}
