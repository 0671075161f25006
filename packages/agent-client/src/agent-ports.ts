import type { RestoreReport, TurnId, WorkspaceId } from '@turnback/core'
import type { TurnRow } from './ports.ts'

/** One entry of an agent's checklist; what is null was not said. */
export interface ChecklistItem {
  /** The agent's own name of the entry, by which later news means it. */
  readonly id: string | null
  readonly text: string | null
  readonly status: 'pending' | 'in-progress' | 'done' | 'dropped' | null
}

export interface Checklist {
  /** The entries are the whole list, in order; else some that are new or changed. */
  readonly isWhole: boolean
  readonly items: readonly ChecklistItem[]
}

/** What a transcript tells that hooks do not. */
export interface TranscriptFacts {
  readonly model: string | null
  readonly version: string | null
  /** When the person broke the agent off, if that is the last thing that it tells; milliseconds since 1970. */
  readonly interruptedMs: number | null
}

/** What agents write down of their sessions, in files of their own. */
export interface Transcripts {
  /** Null when this one tells nothing, or it is not known how it is to be read. */
  find(agent: string | null, path: string): TranscriptFacts | null
}

/** A restore that an agent has not been told of. */
export interface UntoldRestore {
  readonly scan: number
  readonly report: Pick<RestoreReport, 'restored' | 'deleted' | 'merged'>
}

/** What is kept of turns because agents tell it, or are told. Writing is called inside {@link Log.transact}. */
export interface AgentLog {
  /** Open turns of a session, in whichever workspace; the latest first. */
  listOpenOf(session: string): TurnRow[]
  /** Fills in what is not known yet; of the transcript and the model the latest word counts. */
  describe(
    turn: TurnId,
    said: {
      readonly prompt: string | null
      readonly model: string | null
      readonly version: string | null
      readonly transcript: string | null
    },
  ): void
  /** A prompt that came while its session's turn was at work: it may get a turn of its own. */
  queuePrompt(turn: TurnId, prompt: string): void
  /** The first prompt that was queued during the session's latest turn, or null. */
  findQueued(workspace: WorkspaceId, session: string): string | null
  markInterrupted(turn: TurnId, atMs: number): void
  insertChecklist(turn: TurnId, atMs: number, checklist: Checklist): void
  listChecklists(turn: TurnId): (Checklist & { readonly atMs: number })[]
  /** Restores since this session's last turn, and since it was last told. */
  listUntold(workspace: WorkspaceId, session: string): UntoldRestore[]
  markTold(turn: TurnId, scan: number): void
}
