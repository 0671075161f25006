import { readTranscript as claudeCode } from '#adapters/claude-code/transcript.ts'
import { readTranscript as codex } from '#adapters/codex/transcript.ts'
import { readTranscript as copilotCli } from '#adapters/copilot-cli/transcript.ts'
import { readTranscript as geminiCli } from '#adapters/gemini-cli/transcript.ts'
import type { TranscriptFacts } from '#agent-ports.ts'

type ReadTranscript = (head: string, tail: string) => TranscriptFacts

/** By agent: only of these is it known what their transcripts say. */
const READERS: Readonly<Record<string, ReadTranscript>> = {
  'claude-code': claudeCode,
  codex,
  'gemini-cli': geminiCli,
  'copilot-cli': copilotCli,
}

/** How a transcript is read, by the agent's name in the log; null for one that is not. */
export function findReader(agent: string | null): ReadTranscript | null {
  return agent !== null && Object.hasOwn(READERS, agent) ? (READERS[agent] ?? null) : null
}
