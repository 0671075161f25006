import { textIn } from '#adapters/fields.ts'
import { linesFromEnd } from '#adapters/transcript-lines.ts'
import type { TranscriptFacts } from '#agent-ports.ts'

/** Lines of messages, of which the agent's own name their model. That it was broken off is not written down. */
export function readTranscript(_head: string, tail: string): TranscriptFacts {
  for (const line of linesFromEnd(tail)) {
    const model = textIn(line, 'model')
    if (model !== null) return { model, version: null, interruptedMs: null }
  }
  return { model: null, version: null, interruptedMs: null }
}
