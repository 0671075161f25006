import { CircleAlert, Info, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'

export type NoteTone = 'info' | 'warn' | 'error'

const tones: Readonly<Record<NoteTone, string>> = {
  info: 'border-line bg-sunken text-text [&>svg]:text-muted',
  warn: 'border-warn-line bg-warn-bg text-text [&>svg]:text-warn',
  error: 'border-del/30 bg-del-bg text-text [&>svg]:text-del',
}
const icons = { info: Info, warn: TriangleAlert, error: CircleAlert } as const

interface NoteProps {
  readonly tone?: NoteTone
  readonly title: ReactNode
  readonly children?: ReactNode
  readonly action?: ReactNode
}

/** A remark in its place. Errors are read out at once. */
export function Note({ tone = 'info', title, children, action }: NoteProps) {
  const Icon = icons[tone]
  return (
    <div
      role={tone === 'error' ? 'alert' : undefined}
      className={`flex gap-2.5 rounded-lg border px-3 py-2.5 ${tones[tone]}`}
    >
      <Icon className="mt-0.5 size-4 shrink-0" aria-hidden="true" />
      <div className="min-w-0 flex-1">
        <p className="font-medium [overflow-wrap:anywhere]">{title}</p>
        {children !== undefined && (
          <div className="mt-0.5 text-muted [overflow-wrap:anywhere]">{children}</div>
        )}
        {action !== undefined && <div className="mt-2.5 flex flex-wrap gap-2">{action}</div>}
      </div>
    </div>
  )
}
