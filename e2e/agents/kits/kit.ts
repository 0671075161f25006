import type { Protocol, Step } from '#agents/models/model-server.ts'
import type { AgentName } from '#agents/programs.ts'

/** The folders of a developer's machine that an agent is to work on. */
export interface Places {
  readonly home: string
  readonly tree: string
}

export interface How {
  readonly modelUrl: string
  /** With the session it had last, not a new one. */
  readonly goesOn: boolean
}

export interface Start {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

export type EndReason = 'completed' | 'failed' | 'interrupted' | 'superseded' | 'lost'

/** What is particular to one agent: how it is started without a person or a network, and what its tools are called. */
export interface Kit {
  readonly agent: AgentName
  readonly protocol: Protocol
  /** Besides the agent's name. */
  readonly installOptions?: readonly string[]
  /** Arguments with which it runs hooks that nobody has agreed to. */
  readonly trustHooks?: readonly string[]
  /** Settings as a person has them before Turnback is installed. */
  prepare(places: Places): void
  start(prompt: string, how: How): Start
  create(file: string, text: string): readonly Step[]
  edit(file: string, before: string, after: string): readonly Step[]
  shell(command: string): readonly Step[]
  /** It starts itself anew and waits for that: a signal reaches both, as from a terminal. */
  readonly restartsItself?: boolean
  /** Whether it takes what a hook tells it at the beginning of a turn. */
  readonly listens: boolean
  /** How a turn ends when the agent is ended in the middle of a tool, or its model refuses. */
  readonly ends: Readonly<Record<'SIGINT' | 'SIGTERM' | 'SIGKILL' | 'refusal', EndReason>>
}
