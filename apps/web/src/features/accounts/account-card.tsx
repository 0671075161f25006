import type { ReactNode } from 'react'
import { Mark } from '#ui/mark.tsx'

/** The one card of a page on which nobody is signed in. */
export function AccountCard({
  title,
  lead,
  children,
}: {
  title: string
  lead?: string
  children: ReactNode
}) {
  return (
    <main className="grid min-h-dvh place-items-center px-4 py-10">
      <div className="w-full max-w-sm">
        <div className="mb-6 flex items-center gap-2.5">
          <Mark className="size-8" />
          <span className="text-base font-semibold tracking-tight">Turnback</span>
        </div>
        <div className="rounded-xl border border-line bg-surface p-6 shadow-sm">
          <h1 className="text-lg font-semibold tracking-tight">{title}</h1>
          {lead !== undefined && <p className="mt-1 text-pretty text-muted">{lead}</p>}
          <div className="mt-5">{children}</div>
        </div>
      </div>
    </main>
  )
}
