import { CloudOff, RotateCw, SearchX, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from './button.tsx'

interface ErrorStateProps {
  readonly code: string
  readonly message: string
  readonly remedy: string
  readonly onRetry?: () => void
  readonly action?: ReactNode
}

/** A page, or a part of one, that could not be shown. */
export function ErrorState({ code, message, remedy, onRetry, action }: ErrorStateProps) {
  const Icon = code.endsWith('NOT_FOUND') ? SearchX : code === 'SERVER_UNREACHABLE' ? CloudOff : TriangleAlert
  return (
    <section
      role="alert"
      className="mx-auto flex w-full max-w-md flex-col items-center px-4 py-20 text-center"
    >
      <Icon className="mb-4 size-8 text-faint" aria-hidden="true" />
      <h1 className="text-base font-semibold text-balance">{message}</h1>
      <p className="mt-1 text-pretty text-muted">{remedy}</p>
      <div className="mt-5 flex flex-wrap justify-center gap-2">
        {onRetry !== undefined && (
          <Button onClick={onRetry} icon={<RotateCw className="size-4" />}>
            Try again
          </Button>
        )}
        {action}
      </div>
      <p className="mt-6 font-mono text-xs text-faint">{code}</p>
    </section>
  )
}
