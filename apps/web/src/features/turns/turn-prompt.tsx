import { makeVisible } from '#ui/visible.ts'

interface TurnPromptProps {
  readonly prompt: string | null
  readonly lastMessage: string | null
  /** What the heading says already. */
  readonly title: string
}

/** The prompt beyond what the heading says, and what the agent said at the end. */
export function TurnPrompt({ prompt, lastMessage, title }: TurnPromptProps) {
  const rest = restOfPrompt(prompt ?? '', title)
  const said = lastMessage?.trim() ?? ''
  if (rest === '' && said === '') return null
  return (
    <div className={`mt-4 grid gap-x-6 gap-y-3 ${rest !== '' && said !== '' ? 'lg:grid-cols-2' : ''}`}>
      {rest !== '' && <Words label="Prompt, continued" text={rest} />}
      {said !== '' && <Words label="What the agent said at the end" text={said} />}
    </div>
  )
}

/** The prompt without its first line when that is the heading; the whole prompt when it is not. */
export function restOfPrompt(prompt: string, title: string): string {
  const text = prompt.trim()
  return text.startsWith(title) ? text.slice(title.length).trim() : text
}

/** Opens on demand when it is long, so that the files are not pushed out of sight. */
function Words({ label, text }: { label: string; text: string }) {
  const shown = makeVisible(text)
  const isShort = text.length <= 320 && text.split('\n').length <= 4
  const body = 'whitespace-pre-wrap [overflow-wrap:anywhere]'
  return (
    <section aria-label={label} className="min-w-0 border-l-2 border-line-strong pl-3">
      <h2 className="text-xs text-faint">{label}</h2>
      {isShort ? (
        <p className={`mt-0.5 text-muted ${body}`}>{shown}</p>
      ) : (
        <details className="group mt-0.5 text-muted">
          <summary className="list-none">
            <span className={`line-clamp-3 group-open:hidden ${body}`}>{shown}</span>
            <span className="inline-flex min-h-6 items-center text-[0.8125rem] text-accent-text group-open:hidden touch:min-h-11">
              Show all
            </span>
            <span className="hidden min-h-6 items-center text-[0.8125rem] text-accent-text group-open:inline-flex touch:min-h-11">
              Show less
            </span>
          </summary>
          <p className={`max-h-[60vh] overflow-y-auto ${body}`}>{shown}</p>
        </details>
      )}
    </section>
  )
}
