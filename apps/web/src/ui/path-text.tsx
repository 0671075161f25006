import { makeVisible } from './visible.ts'

/** The end of a path tells most, so it is kept; what does not fit is left out before it. */
const TAIL_CHARACTERS = 22

export function splitPath(path: string): { head: string; tail: string } {
  if (path.length <= TAIL_CHARACTERS) return { head: '', tail: path }
  const slash = path.lastIndexOf('/')
  const name = path.length - slash - 1
  const at = slash > 0 && name <= TAIL_CHARACTERS + 8 ? slash : path.length - TAIL_CHARACTERS
  return { head: path.slice(0, at), tail: path.slice(at) }
}

/** A path on one line, cut in the middle when it must be. The whole path stays in the text and the tip. */
export function PathText({
  path,
  className = '',
  isStruck = false,
}: {
  path: string
  className?: string
  isStruck?: boolean
}) {
  const shown = makeVisible(path)
  const { head, tail } = splitPath(shown)
  return (
    <span
      title={shown}
      className={`flex min-w-0 max-w-full font-mono text-[0.8125rem] ${isStruck ? 'line-through decoration-1' : ''} ${className}`}
    >
      {head !== '' && <span className="min-w-0 truncate whitespace-pre">{head}</span>}
      <span
        className={`whitespace-pre ${head === '' ? 'min-w-0 truncate' : 'max-w-[85%] shrink-0 truncate'}`}
      >
        {tail}
      </span>
    </span>
  )
}
