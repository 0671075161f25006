import type { ReactNode } from 'react'

interface EmptyStateProps {
  readonly icon: ReactNode
  readonly title: string
  /** The page's own heading, or one below it. */
  readonly level?: 1 | 2
  readonly children?: ReactNode
  readonly action?: ReactNode
}

export function EmptyState({ icon, title, level = 2, children, action }: EmptyStateProps) {
  const Heading = level === 1 ? 'h1' : 'h2'
  return (
    <section className="mx-auto flex w-full max-w-xl flex-col items-center px-4 py-16 text-center">
      <div className="mb-4 grid size-12 place-items-center rounded-xl border border-line bg-surface text-accent-text shadow-sm [&>svg]:size-6">
        {icon}
      </div>
      <Heading className="text-base font-semibold text-balance">{title}</Heading>
      {children !== undefined && <div className="mt-1.5 w-full text-pretty text-muted">{children}</div>}
      {action !== undefined && <div className="mt-6 w-full">{action}</div>}
    </section>
  )
}
