import { fieldsIn, textIn } from '#adapters/fields.ts'
import { linesFromEnd, linesFromStart, timeOf } from '#adapters/transcript-lines.ts'
import type { TranscriptFacts } from '#agent-ports.ts'

/** What a session's own beginning and end say comes between turns. */
const BETWEEN: ReadonlySet<string> = new Set(['token_count', 'shutdown_complete'])

/** A rollout: lines of `{timestamp, type, payload}`. A turn that was broken off ends with `turn_aborted`. */
export function readTranscript(head: string, tail: string): TranscriptFacts {
  let version: string | null = null
  for (const line of linesFromStart(head)) {
    version = textIn(fieldsIn(line, 'payload'), 'cli_version')
    break
  }
  let model: string | null = null
  let interruptedMs: number | null = null
  let isLast = true
  for (const line of linesFromEnd(tail)) {
    const payload = fieldsIn(line, 'payload')
    const type = textIn(payload, 'type')
    if (line.type === 'turn_context') model ??= textIn(payload, 'model')
    if (isLast && line.type === 'event_msg' && type !== null && !BETWEEN.has(type)) {
      if (type === 'turn_aborted') interruptedMs = timeOf(line.timestamp)
      isLast = false
    }
    if (model !== null && !isLast) break
  }
  return { model, version, interruptedMs }
}
