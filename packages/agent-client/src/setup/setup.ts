import type { AgentName } from '#adapters/adapter.ts'
import type { Environment } from '#config.ts'

/** `user`: for all that this user does. `project`: for this project, in files that lie in it. */
export type Level = 'user' | 'project'

/** What the places of an agent's settings depend on. */
export interface SetupFacts {
  readonly env: Environment
  /** The user's home folder. */
  readonly user: string
  /** The project's root; null outside of any. */
  readonly project: string | null
  readonly level: Level
  /** Absolute path of `bin/turnback`. */
  readonly program: string
  /** Whether agents are to be offered the MCP server. */
  readonly mcp: boolean
  /** Whether there is such a file or folder. */
  exists(path: string): boolean
}

/** One of an agent's hooks as its settings hold it. */
export interface HookEntry {
  /** The agent's own name of the event. */
  readonly event: string
  /** Which tools, in the words of the agent; null where it has no such thing. */
  readonly matcher: string | null
  /** The object that says what to run. */
  readonly entry: Readonly<Record<string, unknown>>
}

/** Hooks in a file of settings that others may have theirs in too. */
export interface HooksEdit {
  readonly kind: 'hooks'
  readonly agent: AgentName
  /** `grouped`: event → [{matcher, hooks: [entry]}]; `flat`: event → [entry]. */
  readonly shape: 'grouped' | 'flat'
  /** In which member of an entry its line stands. */
  readonly lineIn: 'command' | 'bash'
  readonly hooks: readonly HookEntry[]
}

/** A member that is ours alone: `mcpServers.turnback`. */
export interface MemberEdit {
  readonly kind: 'member'
  readonly path: readonly string[]
  readonly value: unknown
}

/** A member that the agent wants to see, whoever writes it: `version`. */
export interface DefaultEdit {
  readonly kind: 'default'
  readonly path: readonly string[]
  readonly value: unknown
}

/** Lines between two marks, in TOML. */
export interface BlockEdit {
  readonly kind: 'block'
  readonly name: string
  /** Keys of no table have to stand above all tables. */
  readonly place: 'top' | 'end'
  readonly text: string
  /** What others may have said already; then nothing is written. */
  readonly unless: readonly string[]
}

/** A file that is ours alone. Its first lines hold {@link OWN_MARK}. */
export interface WholeEdit {
  readonly kind: 'whole'
  readonly text: string
}

export type Edit = HooksEdit | MemberEdit | DefaultEdit | BlockEdit | WholeEdit

/** What one file is to hold. A file that is `whole` has no other edits. */
export interface FileSetup {
  /** Absolute, as the agent names it; a link is followed when it is written. */
  readonly file: string
  readonly edits: readonly Edit[]
}

/** What an agent needs so that it calls us. */
export interface AgentSetup {
  readonly name: AgentName
  /** As people call it. */
  readonly title: string
  /** Its programs, looked for on the PATH. */
  readonly programs: readonly string[]
  /** Where its settings of this level lie. That there is one of the user's shows that the agent is in use. */
  folder(facts: SetupFacts): string
  files(facts: SetupFacts): readonly FileSetup[]
  /** What else a person has to know or do. */
  notes(facts: SetupFacts): readonly string[]
}

/** Long enough for a begin, which waits for ten seconds at most; a hook that hangs never holds the agent longer. */
export const TIMEOUT_SECONDS = 15

/** In the first lines of each file that is ours alone. */
export const OWN_MARK = '`turnback uninstall '
