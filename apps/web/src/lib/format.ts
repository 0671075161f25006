/** Texts for numbers and times. Pure: the moment of reading and the time zone come in as values. */

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'] as const

/** `1.2 MB`; powers of 1024, one decimal below ten. */
export function formatBytes(sizeBytes: number): string {
  let size = sizeBytes
  let unit = 0
  while (size >= 1024 && unit < UNITS.length - 1) {
    size /= 1024
    unit += 1
  }
  const digits = unit === 0 || size >= 10 ? 0 : 1
  return `${size.toFixed(digits)} ${UNITS[unit]}`
}

/** `4 s`, `2 min 5 s`, `1 h 12 min`; under a second `0.4 s`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${(Math.max(0, ms) / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}

export function durationBetween(startedAt: string, endedAt: string): string {
  return formatDuration(Date.parse(endedAt) - Date.parse(startedAt))
}

/** `14:03`, by the reader's zone. */
export function formatClock(at: string, timeZone?: string): string {
  return new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', ...zone(timeZone) }).format(
    new Date(at),
  )
}

/** `30 Nov 2026, 14:03:21`. */
export function formatMoment(at: string, timeZone?: string): string {
  return new Intl.DateTimeFormat('en-GB', {
    dateStyle: 'medium',
    timeStyle: 'medium',
    ...zone(timeZone),
  }).format(new Date(at))
}

/** The day as a key, `2026-11-30`, by the reader's zone. */
export function dayOf(at: string | Date, timeZone?: string): string {
  return new Intl.DateTimeFormat('en-CA', {
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    ...zone(timeZone),
  }).format(new Date(at))
}

/** `Today`, `Yesterday`, `Friday, 27 November`, with the year when it is another. */
export function formatDay(at: string, now: Date, timeZone?: string): string {
  const day = dayOf(at, timeZone)
  if (day === dayOf(now, timeZone)) return 'Today'
  if (day === dayOf(new Date(now.getTime() - 86_400_000), timeZone)) return 'Yesterday'
  const sameYear = day.slice(0, 4) === dayOf(now, timeZone).slice(0, 4)
  return new Intl.DateTimeFormat('en-GB', {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    ...(sameYear ? {} : { year: 'numeric' }),
    ...zone(timeZone),
  }).format(new Date(at))
}

/** `just now`, `5 min ago`, `3 h ago`, `2 days ago`. */
export function formatAgo(at: string, now: Date): string {
  const seconds = Math.max(0, Math.round((now.getTime() - Date.parse(at)) / 1000))
  if (seconds < 45) return 'just now'
  const minutes = Math.round(seconds / 60)
  if (minutes < 60) return `${minutes} min ago`
  const hours = Math.round(minutes / 60)
  if (hours < 36) return `${hours} h ago`
  return `${Math.round(hours / 24)} days ago`
}

/** `1 file`, `4,686 files`. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`
}

/** The first line that says something; prompts often begin with empty ones. */
export function firstLine(text: string): string {
  return (
    text
      .split('\n')
      .find((line) => line.trim() !== '')
      ?.trim() ?? ''
  )
}

/** Permission bits as people write them: `644`, with set-id and sticky bits `4755`. */
export function formatMode(mode: number): string {
  return mode.toString(8).padStart(3, '0')
}

/** Enough of an id to tell it from others by eye. */
export function shortId(id: string): string {
  return id.length > 12 ? `${id.slice(0, 2)}${id.slice(-8)}` : id
}

function zone(timeZone: string | undefined): { timeZone?: string } {
  return timeZone === undefined ? {} : { timeZone }
}
