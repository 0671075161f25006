import { type EntryStatus, statusWords } from './entry-words.ts'

const colours: Readonly<Record<EntryStatus, string>> = {
  added: 'text-add bg-add-bg',
  deleted: 'text-del bg-del-bg',
  modified: 'text-info bg-info-bg',
  mode: 'text-muted bg-hover',
  type: 'text-warn bg-warn-bg',
  skipped: 'text-warn bg-warn-bg',
}

/** A letter and a colour; the word is in the tip and for those who listen. */
export function StatusSign({ status }: { status: EntryStatus }) {
  const { label, sign } = statusWords[status]
  return (
    <span
      role="img"
      aria-label={label}
      title={label}
      className={`grid size-5 shrink-0 place-items-center rounded font-mono text-[0.6875rem] font-semibold ${colours[status]}`}
    >
      {sign}
    </span>
  )
}
