import { ChevronDown } from 'lucide-react'
import { type InputHTMLAttributes, type ReactNode, type SelectHTMLAttributes, useId } from 'react'

export const controlClass =
  'h-8 w-full min-w-0 rounded-md border border-line-strong bg-surface px-2.5 text-[0.8125rem] text-text placeholder:text-faint hover:border-faint focus:border-accent touch:h-11 touch:text-base'

interface FieldProps extends InputHTMLAttributes<HTMLInputElement> {
  readonly label: string
  readonly hint?: ReactNode
  readonly error?: string | undefined
}

/** An input with its label; what is wrong with it is said below and bound to it. */
export function Field({ label, hint, error, className = '', ...rest }: FieldProps) {
  const id = useId()
  const note = error ?? hint
  return (
    <div className={className}>
      <label htmlFor={id} className="mb-1.5 block text-[0.8125rem] font-medium">
        {label}
      </label>
      <input
        {...rest}
        id={id}
        aria-invalid={error === undefined ? undefined : true}
        aria-describedby={note === undefined ? undefined : `${id}-note`}
        className={`${controlClass} h-10 ${error === undefined ? '' : 'border-del'}`}
      />
      {note !== undefined && (
        <p id={`${id}-note`} className={`mt-1.5 text-xs ${error === undefined ? 'text-faint' : 'text-del'}`}>
          {note}
        </p>
      )}
    </div>
  )
}

interface SelectProps extends SelectHTMLAttributes<HTMLSelectElement> {
  readonly label: string
}

/** The system's own list: it is the best there is on a phone. */
export function Select({ label, className = '', children, ...rest }: SelectProps) {
  return (
    <span className={`relative block min-w-0 ${className}`}>
      <select {...rest} aria-label={label} className={`${controlClass} appearance-none truncate pr-8`}>
        {children}
      </select>
      <ChevronDown
        aria-hidden="true"
        className="pointer-events-none absolute top-1/2 right-2.5 size-4 -translate-y-1/2 text-faint"
      />
    </span>
  )
}
