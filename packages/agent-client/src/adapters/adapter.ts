import type { OwnEnd } from '@turnback/core'
import type { Checklist } from '#agent-ports.ts'
import type { Environment } from '#config.ts'

/** Names of the agents, as on the command line, in manifests and of the folders here. */
export const AGENTS = ['claude-code', 'codex', 'opencode', 'gemini-cli', 'copilot-cli', 'cursor'] as const
export type AgentName = (typeof AGENTS)[number]

export function isAgentName(word: string): word is AgentName {
  return AGENTS.some((each) => each === word)
}

export type NewsType =
  | 'turn.start'
  | 'tool.before'
  | 'tool.after'
  | 'turn.end'
  | 'session.end'
  /** The agent's own list of what is to be done has changed. */
  | 'checklist'

/** One thing that an agent told, in our words. */
export interface AgentNews {
  readonly type: NewsType
  readonly session: string
  /** Of a sub-agent: the session whose turn it works for. */
  readonly parentSession: string | null
  /** The agent's own name of the turn; null when it has none, and the session's open turn is meant. */
  readonly key: string | null
  /** The folder that the agent works in now. */
  readonly cwd: string | null
  /** The folder that the session was begun for, if the agent says so. */
  readonly project: string | null
  readonly prompt: string | null
  readonly model: string | null
  readonly version: string | null
  readonly tool: string | null
  readonly command: string | null
  /** Files that the tool writes, not those that it reads; relative to `cwd` or absolute. */
  readonly paths: readonly string[]
  readonly transcript: string | null
  /** How the turn ended, of `turn.end`. */
  readonly reason: OwnEnd
  readonly lastMessage: string | null
  readonly checklist: Checklist | null
}

/** What a payload told. */
export interface Reading {
  readonly news: readonly AgentNews[]
  /** What of it is not known here, for the log; null when everything is. */
  readonly unknown: string | null
}

/** One agent, as values: what it says, and what is said to it. */
export interface Adapter {
  readonly name: AgentName
  /** The variable by which the agent tells what it starts of its own process, or null. */
  readonly pidVariable: string | null
  /**
   * @param payload what its hook was given, parsed
   * @param event the event's name when the payload does not say it
   */
  read(payload: unknown, event: string | null, env: Environment): Reading
  /**
   * What the hook prints.
   * @param context what the agent is to know at the beginning of its turn, or null for nothing
   */
  answer(context: string | null): string
  /**
   * What the hook prints so that the prompt stays from the model, and the person reads this instead. Missing where the
   * agent has no such thing.
   */
  refuse?(report: string): string
}

export const NOTHING_TOLD: Reading = { news: [], unknown: null }

/** Fills in what most news does not say. */
export function makeNews(
  type: NewsType,
  session: string,
  more: Partial<Omit<AgentNews, 'type' | 'session'>>,
): AgentNews {
  return {
    type,
    session,
    parentSession: null,
    key: null,
    cwd: null,
    project: null,
    prompt: null,
    model: null,
    version: null,
    tool: null,
    command: null,
    paths: [],
    transcript: null,
    reason: 'completed',
    lastMessage: null,
    checklist: null,
    ...more,
  }
}
