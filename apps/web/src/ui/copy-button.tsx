'use client'

import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Button, IconButton } from './button.tsx'

type Outcome = 'none' | 'copied' | 'failed'

interface CopyButtonProps {
  readonly text: string
  readonly label: string
  /** With words beside the icon. */
  readonly hasText?: boolean
  readonly className?: string
}

export function CopyButton({ text, label, hasText = false, className }: CopyButtonProps) {
  const [outcome, setOutcome] = useState<Outcome>('none')
  useEffect(() => {
    if (outcome === 'none') return
    const timer = setTimeout(() => setOutcome('none'), 2000)
    return () => clearTimeout(timer)
  }, [outcome])
  const copy = () => {
    // Browsers give no clipboard to a page that came over plain HTTP from another host.
    const written = navigator.clipboard?.writeText(text) ?? Promise.reject(new Error('no clipboard'))
    written.then(
      () => setOutcome('copied'),
      () => setOutcome('failed'),
    )
  }
  const icon = outcome === 'copied' ? <Check className="size-4 text-add" /> : <Copy className="size-4" />
  const said = outcome === 'copied' ? 'Copied' : outcome === 'failed' ? 'Copying is not allowed here' : label
  return (
    <>
      {hasText ? (
        <Button onClick={copy} icon={icon} {...(className === undefined ? {} : { className })}>
          {said}
        </Button>
      ) : (
        <IconButton
          label={label}
          onClick={copy}
          icon={icon}
          {...(className === undefined ? {} : { className })}
        />
      )}
      <span role="status" className="sr-only">
        {outcome === 'none' ? '' : said}
      </span>
    </>
  )
}

/** A command to be typed elsewhere, whole and easy to take along. */
export function CommandLine({ command, label }: { command: string; label: string }) {
  return (
    <div className="rounded-lg border border-line bg-sunken text-left">
      <code className="block px-3 pt-3 pb-2 font-mono text-[0.8125rem] leading-5 [overflow-wrap:anywhere]">
        <span className="text-faint select-none" aria-hidden="true">
          ${' '}
        </span>
        {command}
      </code>
      <div className="flex justify-end p-2 pt-0">
        <CopyButton text={command} label={label} hasText />
      </div>
    </div>
  )
}
