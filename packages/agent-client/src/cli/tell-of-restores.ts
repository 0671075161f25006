import type { TurnId } from '@turnback/core'
import type { ClientDeps } from '#deps.ts'
import type { Workspace } from '#ports.ts'
import { onOneLine } from './visible.ts'

const NAMES = 50

/**
 * What an agent is to know at the beginning of a turn: that files which it knows are not as it left them, because
 * somebody rewound since. Null when nobody did. It is said once.
 */
export function tellOfRestores(
  deps: Pick<ClientDeps, 'agents' | 'log'>,
  workspace: Workspace,
  session: string,
  turn: TurnId,
): string | null {
  const untold = deps.agents.listUntold(workspace.id, session)
  const last = untold.at(-1)
  if (last === undefined) return null
  deps.log.transact(() => deps.agents.markTold(turn, last.scan))
  const paths = new Set(
    untold.flatMap(({ report }) => [...report.restored, ...report.deleted, ...report.merged]),
  )
  if (paths.size === 0) return null
  const names = [...paths].sort()
  const more = names.length > NAMES ? [`and ${names.length - NAMES} more`] : []
  return [
    'Since your last turn here the person rewound files with Turnback. They are no longer as you left them;',
    'read them again before you rely on what you remember. Do not make the undone changes again unless you are asked to.',
    `Changed in ${onOneLine(workspace.root)}:`,
    ...names.slice(0, NAMES).map((path) => `- ${onOneLine(path)}`),
    ...more,
  ].join('\n')
}
