import { type ReactNode, Suspense } from 'react'
import { AppShell } from './app-shell.tsx'

export default function AppLayout({ children }: { children: ReactNode }) {
  return (
    <Suspense>
      <AppShell>{children}</AppShell>
    </Suspense>
  )
}
