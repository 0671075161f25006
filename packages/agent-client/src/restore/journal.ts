import {
  DomainError,
  type RestoreId,
  type RestorePlan,
  type RestoreReport,
  type TurnId,
} from '@turnback/core'
import type { Deps, FolderMode, Workspace } from '#ports.ts'
import { findAnyFault } from '#unusable.ts'
import type { Wish } from './ask.ts'

const FORMAT = 'turnback.journal/1'

/** Everything that is needed to finish a restore, or to take it back, after the process that ran it is gone. */
export interface Journal {
  readonly restore: RestoreId
  /** The turn that the restore becomes. */
  readonly turn: TurnId
  readonly wish: Wish
  readonly plan: RestorePlan
  /** Number of the scan that the plan was made from. */
  readonly scan: number
  /** Folders whose mode may have been widened for a moment, with the mode they are to have again. */
  readonly widened: readonly FolderMode[]
  readonly irreversible: readonly string[]
  readonly requestedBy: RestoreReport['requestedBy']
  readonly startedAt: string
  /** Set once somebody asked to roll back: from then on only that is done. */
  readonly isAborting: boolean
}

/** Durable when it returns: nothing is written into the tree before. */
export function putJournal(deps: Deps, workspace: Workspace, journal: Journal): void {
  deps.log.putJournal({
    workspace: workspace.id,
    restore: journal.restore,
    plan: JSON.stringify({ format: FORMAT, ...journal }),
    startedAt: journal.startedAt,
  })
}

export function findJournal(deps: Deps, workspace: Workspace): Journal | null {
  const row = deps.log.findJournal(workspace.id)
  if (row === null) return null
  // Written by putJournal above and kept in our own checked database: the format says which version of it.
  const { format, ...journal } = JSON.parse(row.plan) as Journal & { format: string }
  if (format !== FORMAT) throw new DomainError('STORE_NEWER', { format })
  return journal
}

/** Files may be written and the journal still stands, so the next restoring command can finish both them and the record. */
export async function orNotRecorded<T>(journal: Journal, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    throw notRecorded(journal, cause) ?? cause
  }
}

/** What is said of that, or null when `cause` is no trouble that can be, but a mistake of ours. */
export function notRecorded({ restore }: Pick<Journal, 'restore'>, cause: unknown): DomainError | null {
  const error = findAnyFault(cause) ?? cause
  if (!(error instanceof DomainError)) return null
  const message = `${error.message} Files were given back, but the restore is not recorded yet: \`turnback recover\` finishes it.`
  return new DomainError(error.code, { ...error.details, restore }, { message, cause })
}
