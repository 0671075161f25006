import type { ButtonHTMLAttributes, ReactNode, Ref } from 'react'
import { Spinner } from './spinner.tsx'

export type ButtonTone = 'primary' | 'plain' | 'quiet' | 'danger'

const tones: Readonly<Record<ButtonTone, string>> = {
  primary: 'border-transparent bg-accent text-on-accent hover:bg-accent-hover',
  plain: 'border-line-strong bg-surface text-text hover:bg-hover',
  quiet: 'border-transparent bg-transparent text-muted hover:bg-hover hover:text-text',
  danger: 'border-del/40 bg-surface text-del hover:bg-del-bg',
}

export type ButtonSize = 'icon' | 'small' | 'normal' | 'large'

const sizes: Readonly<Record<ButtonSize, string>> = {
  icon: 'size-8',
  small: 'h-7 px-2.5 text-xs',
  normal: 'h-8 px-3 text-[0.8125rem]',
  large: 'h-11 px-4 text-sm',
}

/** Classes of a button, for links that look like one. On touch screens all are 44 px high. */
export function buttonClass(tone: ButtonTone = 'plain', size: ButtonSize = 'normal'): string {
  return `inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md border font-medium whitespace-nowrap transition-colors touch:min-h-11 touch:min-w-11 disabled:opacity-55 ${sizes[size]} ${tones[tone]}`
}

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly tone?: ButtonTone
  readonly size?: ButtonSize
  readonly isBusy?: boolean
  readonly icon?: ReactNode
  readonly ref?: Ref<HTMLButtonElement>
}

export function Button({
  tone,
  size,
  isBusy = false,
  icon,
  className = '',
  children,
  disabled,
  ...rest
}: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      disabled={disabled === true || isBusy}
      aria-busy={isBusy || undefined}
      className={`${buttonClass(tone, size)} ${className}`}
    >
      {isBusy ? <Spinner /> : icon}
      {children}
    </button>
  )
}

interface IconButtonProps extends ButtonProps {
  readonly label: string
}

/** A button that is an icon; its name is for those who do not see it, and a tip for those who wonder. */
export function IconButton({ label, tone = 'quiet', ...rest }: IconButtonProps) {
  return <Button {...rest} tone={tone} size="icon" aria-label={label} title={label} />
}
