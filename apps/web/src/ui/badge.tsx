import type { ReactNode } from 'react'

export type BadgeTone = 'plain' | 'accent' | 'add' | 'del' | 'warn' | 'info'

const tones: Readonly<Record<BadgeTone, string>> = {
  plain: 'bg-hover text-muted',
  accent: 'bg-accent-soft text-accent-text',
  add: 'bg-add-bg text-add',
  del: 'bg-del-bg text-del',
  warn: 'bg-warn-bg text-warn',
  info: 'bg-info-bg text-info',
}

export function Badge({
  tone = 'plain',
  icon,
  title,
  children,
}: {
  tone?: BadgeTone
  icon?: ReactNode
  title?: string
  children: ReactNode
}) {
  return (
    <span
      title={title}
      className={`inline-flex h-5 shrink-0 items-center gap-1 rounded px-1.5 text-xs font-medium whitespace-nowrap [&>svg]:size-3 ${tones[tone]}`}
    >
      {icon}
      {children}
    </span>
  )
}
