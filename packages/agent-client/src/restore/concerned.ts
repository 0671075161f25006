import {
  DATABASE_LOGS,
  databaseOf,
  type PlanInput,
  parentOf,
  type RelPath,
  type RestoreEvent,
  type TurnFacts,
  type WorkspaceId,
} from '@turnback/core'
import type { Log } from '#ports.ts'

type Facts = Pick<PlanInput, 'request' | 'turns' | 'events' | 'tree' | 'gap'>

/**
 * The changes and what restores did to them, as far as a plan can speak of them, so that it costs what its own paths
 * cost, however long the log is: every change, whenever it was, of paths that changed since the first turn of its scope
 * began, of the folders above them and of the other files of a database. A log without its beginning is given whole.
 */
export function listConcerned(
  log: Log,
  workspace: WorkspaceId,
  facts: Facts,
): Pick<PlanInput, 'changes' | 'events'> {
  const start = findStart(facts)
  if (start === null) return { changes: log.listChanges(workspace), events: facts.events }
  const paths = new Set(start.paths)
  if (start.scan !== null) for (const path of log.listPathsSince(workspace, start.scan)) paths.add(path)
  const { tree, request } = facts
  for (const path of [...paths])
    for (const member of listSet(path)) if (member === databaseOf(path) || tree.has(member)) paths.add(member)
  // To name one file of a database is to name them all, also those that are gone.
  for (const path of request.paths ?? []) for (const member of listSet(path)) paths.add(member)
  for (const path of [...paths])
    for (let at = parentOf(path); at !== '' && !paths.has(at); at = parentOf(at)) paths.add(at)
  const isConcerned = ({ path }: { readonly path: RelPath }): boolean => paths.has(path)
  const events = facts.events.map((event) => ({
    ...event,
    popped: event.popped.filter(isConcerned),
    putBack: event.putBack.filter(isConcerned),
    pushed: event.pushed.filter(isConcerned),
  }))
  return { changes: log.listChanges(workspace, [...paths]), events }
}

/** From where on changes count, and paths that count in any case. Null when everything may. */
function findStart({ request, turns, events, gap }: Facts): {
  readonly scan: number | null
  readonly paths: readonly RelPath[]
} | null {
  const target = turns.find((turn) => turn.turn === request.target)
  if (target === undefined || gap !== undefined) return null
  // What a restore did is taken back path by path, wherever its changes lie.
  if (target.kind === 'restore')
    return { scan: null, paths: events.filter((event) => event.turn === target.turn).flatMap(pathsOf) }
  const isOfSession = ({ session }: TurnFacts): boolean => session !== null && session === target.session
  const begun = turns.filter((turn) => turn === target || (request.scope === 'session' && isOfSession(turn)))
  const scan = Math.min(...begun.map((turn) => turn.beginScan))
  return { scan, paths: events.filter((event) => event.scan >= scan).flatMap(pathsOf) }
}

function pathsOf({ popped, putBack, pushed }: RestoreEvent): RelPath[] {
  return [popped, putBack, pushed].flatMap((list) => list.map(({ path }) => path))
}

/** The files of the database that a path may belong to. */
function listSet(path: RelPath): RelPath[] {
  const base = databaseOf(path)
  return [base, ...DATABASE_LOGS.map((end) => base + end)]
}
