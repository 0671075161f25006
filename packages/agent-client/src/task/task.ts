import type { DomainError, KeptPath, RestoreReport, TurnId } from '@turnback/core'
import type { ClientDeps } from '#deps.ts'
import type { TurnRow, Workspace } from '#ports.ts'
import type { LeftProcess } from '#store/task-processes.ts'

/** What `run` was asked to do. */
export interface TaskPlan {
  readonly task: string
  readonly title: string | null
  readonly command: readonly string[]
  /** The same as a shell would read it. */
  readonly line: string
  /** Shell lines, run one after the other in the root once the command ended well. */
  readonly verify: readonly string[]
  /** Further tries after a failed one. */
  readonly retries: number
  readonly retryFrom: 'clean' | 'current' | 'last-good'
  readonly commit: boolean
  readonly onFail: 'rollback' | 'keep'
}

/** What a run works with. */
export interface TaskPorts {
  readonly deps: ClientDeps
  readonly workspace: Workspace
  /** Where the command is started. */
  readonly folder: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Standard output is for a program: what the command prints goes to standard error. */
  readonly isJson: boolean
  readonly requestedBy: RestoreReport['requestedBy']
  /** Tells a person how far it is. */
  progress(text: string): void
  /** What a person should hear in any case. */
  warn(text: string): void
  /** A unified diff of what the turn did, piece by piece. */
  diffOf(turn: TurnRow): Iterable<Uint8Array>
}

/** A path of the task's that its commit does not have, with why. */
export interface NotLanded {
  readonly path: string
  readonly reason: 'ignored' | 'other-repository' | 'not-captured'
}

export interface Landed {
  /** Null when there was nothing to commit. */
  readonly commit: string | null
  readonly notLanded: readonly NotLanded[]
}

/** One try. */
export interface Attempt {
  readonly turn: TurnId
  readonly number: number
  /** Of the command, as a shell says it. */
  readonly exit: number
  /** True when there was something to verify with, and all of it passed. */
  readonly verified: boolean
  /** The line that did not pass, or null. */
  readonly failedVerify: string | null
  readonly outcome: 'passed' | 'failed' | 'interrupted'
  /** Somebody else closed its turn while it ran: what came later is not in it. */
  readonly isCutShort: boolean
  readonly landed: Landed | null
  /** Why its work could not be committed. */
  readonly landingTrouble: DomainError | null
  readonly stillRunning: readonly LeftProcess[]
  /** HEAD or its branch is another one than before, and not by our commit. */
  readonly movedHead: MovedHead | null
}

export interface MovedHead {
  readonly then: string | null
  readonly now: string | null
}

/** What is not as it was before the first try, after everything was to be taken back. */
export interface Leftovers {
  readonly kept: readonly KeptPath[]
  readonly failed: RestoreReport['failed']
  readonly skipped: RestoreReport['skipped']
  readonly directories: readonly string[]
  readonly error: { readonly code: string; readonly message: string } | null
}
