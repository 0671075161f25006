import { noteEvent } from '#capture/note-event.ts'
import type { TurnRow } from '#ports.ts'
import { type Child, type ChildEnd, endGroup, startChild } from './child.ts'
import { noteGroup } from './claim.ts'
import type { Stop } from './stop.ts'
import type { TaskPlan, TaskPorts } from './task.ts'

/** The try that a program is started for. */
export interface Running {
  readonly turn: TurnRow['turn']
  readonly key: string
  readonly attempt: number
  /** File with the diff of the try before, or null on the first. */
  readonly failedDiff: string | null
  readonly stop: Stop
}

export interface StepEnd extends ChildEnd {
  readonly group: number | null
}

/** What tells a try's processes from all others. */
export function markOf({ turn }: Pick<Running, 'turn'>): string {
  return `TURNBACK_TURN=${turn}`
}

/**
 * Runs one program of a try to its end, or until the run is to stop: then ends all of its group. It is written down as a
 * tool's, so that others see that the turn is at work, and what it reaches beyond the tree is listed.
 */
export async function runStep(
  ports: TaskPorts,
  plan: TaskPlan,
  running: Running,
  {
    argv,
    line,
    folder,
  }: { readonly argv: readonly string[]; readonly line: string; readonly folder: string },
): Promise<StepEnd> {
  await note(ports, plan, running, 'tool.before', line)
  // Before it starts: should this run be killed the moment after, what it started is found by its mark.
  noteGroup(ports.deps, ports.workspace, null, markOf(running))
  const child = startChild(argv, {
    folder,
    env: variables(ports, plan, running),
    output: ports.isJson ? 'talk' : 'ours',
  })
  const group = await child.group
  const end = await orEndIt(group, () => {
    noteGroup(ports.deps, ports.workspace, group, markOf(running))
    return waitFor(child, group, running.stop)
  })
  // At a terminal its Ctrl-C reaches the program that has it, and not us.
  if (child.isInTerminal && (end.signal === 'SIGINT' || end.exit === 130)) running.stop.ask('SIGINT')
  await note(ports, plan, running, 'tool.after', line)
  return { ...end, group }
}

/** Whatever goes wrong here, nothing that was started stays behind. */
async function orEndIt<T>(group: number | null, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (group !== null) await endGroup(group)
    throw error
  }
}

async function waitFor(child: Child, group: number | null, stop: Stop): Promise<ChildEnd> {
  const wanted = stop.wanted.then(() => null)
  const end = await Promise.race([child.ended, wanted])
  if (end !== null) return end
  if (group !== null) await endGroup(group, () => stop.isUrgent)
  return child.ended
}

function variables(
  { env }: TaskPorts,
  { task }: TaskPlan,
  { attempt, turn, failedDiff }: Running,
): Record<string, string | undefined> {
  const { TURNBACK_FAILED_DIFF: _, ...inherited } = env
  return {
    ...inherited,
    TURNBACK_TASK: task,
    TURNBACK_ATTEMPT: String(attempt),
    TURNBACK_TURN: turn,
    ...(failedDiff === null ? {} : { TURNBACK_FAILED_DIFF: failedDiff }),
  }
}

async function note(
  { deps, workspace }: TaskPorts,
  { task }: TaskPlan,
  { turn, key }: Running,
  type: 'tool.before' | 'tool.after',
  command: string,
): Promise<void> {
  // Somebody may have closed it: news of it would open another.
  if (deps.log.findTurn(turn)?.isOpen !== true) return
  await noteEvent(deps, workspace, {
    ...{ session: task, parentSession: null, key, type, agent: null, tool: 'run', command },
    ...{ paths: [], outside: [], agentPid: null, reason: 'completed', atMs: null, withinSeconds: null },
  })
}
