import { asFields, type Fields, fieldsIn, textIn } from '#adapters/fields.ts'
import { linesFromEnd, timeOf } from '#adapters/transcript-lines.ts'
import type { TranscriptFacts } from '#agent-ports.ts'

const BROKEN_OFF = '[Request interrupted by user'
/** More lines than this are not looked through for what every other line says. */
const LINES = 200

/**
 * What Claude Code writes down of a session: a line of JSON for each message, with its version, the model of an answer,
 * and on Esc a message of the user's that begins with `[Request interrupted by user`.
 */
export function readTranscript(_head: string, tail: string): TranscriptFacts {
  let model: string | null = null
  let version: string | null = null
  let interruptedMs: number | null = null
  let isLast = true
  let seen = 0
  for (const line of linesFromEnd(tail)) {
    if (++seen > LINES || (model !== null && version !== null && !isLast)) break
    version ??= textIn(line, 'version')
    const isMessage = line.type === 'user' || line.type === 'assistant'
    if (!isMessage || line.isSidechain === true) continue
    const said = textIn(fieldsIn(line, 'message'), 'model')
    // A message that the program made itself, as for a fault of the service.
    if (said !== null && said !== '<synthetic>') model ??= said
    if (isLast && line.isMeta !== true) {
      if (textOf(line)?.startsWith(BROKEN_OFF) === true) interruptedMs = timeOf(line.timestamp)
      isLast = false
    }
  }
  return { model, version, interruptedMs }
}

function textOf(line: Fields): string | null {
  const message = fieldsIn(line, 'message')
  const whole = textIn(message, 'content')
  if (whole !== null) return whole
  const content = message?.content
  return Array.isArray(content) ? textIn(asFields(content.at(-1)), 'text') : null
}
