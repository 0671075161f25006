import { makeVisible } from '#ui/visible.ts'

interface TurnPromptProps {
  readonly prompt: string | null
  readonly lastMessage: string | null
  /** What the heading says already. */
  readonly title: string
}

/** The whole prompt, when the heading does not hold it, and what the agent said at the end. */
export function TurnPrompt({ prompt, lastMessage, title }: TurnPromptProps) {
  const whole = prompt?.trim() ?? ''
  const more = whole !== '' && whole !== title
  const said = lastMessage?.trim() ?? ''
  if (!more && said === '') return null
  return (
    <div className="mt-4 grid gap-2">
      {more && <Words label="Prompt" text={whole} />}
      {said !== '' && <Words label="What the agent said at the end" text={said} />}
    </div>
  )
}

/** Opens on demand when it is long, so that the files are not pushed out of sight. */
function Words({ label, text }: { label: string; text: string }) {
  const isShort = text.length <= 400 && text.split('\n').length <= 6
  return (
    <details open={isShort} className="group rounded-xl border border-line bg-surface">
      <summary className="flex min-h-9 items-center px-3.5 text-xs font-medium text-muted select-none touch:min-h-11">
        {label}
      </summary>
      <p className="max-h-96 overflow-y-auto border-t border-line px-3.5 py-2.5 whitespace-pre-wrap [overflow-wrap:anywhere]">
        {makeVisible(text)}
      </p>
    </details>
  )
}
