import { homedir } from 'node:os'
import type { TurnId } from '@turnback/core'
import type { Deps, ToolEvent } from '#ports.ts'
import { findOutward } from './outward-commands.ts'

/**
 * What the turns did that giving files back does not undo, as far as the agent told us of its commands and of the
 * files that its tools wrote. A tool that was heard to begin and never to end may have done it, and is listed so.
 */
export function listIrreversible(deps: Deps, turns: readonly TurnId[]): string[] {
  const found = new Set<string>()
  const begun = new Set<string>()
  for (const turn of turns) {
    for (const event of deps.log.listToolEvents(turn)) {
      const list = event.type === 'tool.before' ? begun : found
      for (const what of listEffects(event)) list.add(what)
    }
  }
  for (const what of begun) if (!found.has(what)) found.add(`${what} (begun; nobody heard how it ended)`)
  return [...found].sort()
}

function listEffects({ command, outside }: ToolEvent): string[] {
  const wrote = outside.map(({ path, link }) =>
    link === null
      ? `wrote ${inHome(path)}, outside the workspace`
      : `wrote ${inHome(path)} through the link ${link}`,
  )
  return [...(command === null ? [] : findOutward(command)), ...wrote]
}

/** Reports are shown to others: where somebody's home is says nothing to them. */
function inHome(path: string): string {
  const home = homedir()
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path
}
