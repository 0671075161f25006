import { fieldsIn, textIn } from '#adapters/fields.ts'
import { linesFromEnd, linesFromStart, timeOf } from '#adapters/transcript-lines.ts'
import type { TranscriptFacts } from '#agent-ports.ts'

/** `events.jsonl`: lines of `{type, data, timestamp}`. A turn that was broken off has an `abort`. */
export function readTranscript(head: string, tail: string): TranscriptFacts {
  let version: string | null = null
  let model: string | null = null
  for (const line of linesFromStart(head)) {
    version = textIn(fieldsIn(line, 'data'), 'copilotVersion')
    break
  }
  let interruptedMs: number | null = null
  let isLast = true
  for (const line of linesFromEnd(tail)) {
    const data = fieldsIn(line, 'data')
    model ??= textIn(data, 'model', 'newModel', 'selectedModel')
    if (
      isLast &&
      (line.type === 'abort' || line.type === 'user.message' || line.type === 'assistant.message')
    ) {
      if (line.type === 'abort') interruptedMs = timeOf(line.timestamp)
      isLast = false
    }
    if (model !== null && !isLast) break
  }
  return { model, version, interruptedMs }
}
