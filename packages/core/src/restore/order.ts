import { foldKey } from '#path/fold.ts'
import { parentOf, type RelPath } from '#path/rel-path.ts'
import type { State } from '#tree/state.ts'
import type { PlanStep, StepPhase } from './restore-plan.ts'

const PHASES: Readonly<Record<StepPhase, number>> = { room: 0, create: 1, delete: 2, rmdir: 3, modes: 4 }
const OWNER_WRITES = 0o300

/** A step that has not been given its place yet. */
export type UnorderedStep = Omit<PlanStep, 'phase'>

/**
 * Gives each step its phase and puts them in the order in which a file system can take them: removals that
 * make room, children first; all that is to exist, parents first; other files; directories, children first;
 * at the end directories that are to be closed to their owner.
 * @param ignoresCase true for a disk on which names that differ in case only are one: what goes makes room for its
 *   twin that comes
 */
export function orderSteps(steps: readonly UnorderedStep[], ignoresCase = false): PlanStep[] {
  const roomFor = new Set<RelPath>()
  const twins = ignoresCase ? findGoingTwins(steps) : new Set<RelPath>()
  for (const path of twins) roomFor.add(path)
  for (const step of steps) {
    if (step.from.kind === 'dir' && step.to.kind !== 'dir' && step.to.kind !== 'absent')
      roomFor.add(step.path)
  }
  return steps
    .map((step) => ({ ...step, phase: twins.has(step.path) ? ('room' as const) : phaseOf(step, roomFor) }))
    .sort(
      (a, b) =>
        PHASES[a.phase] - PHASES[b.phase] || (isChildrenFirst(a.phase) ? -1 : 1) * compare(a.path, b.path),
    )
}

function findGoingTwins(steps: readonly UnorderedStep[]): Set<RelPath> {
  const isGoing = ({ to }: UnorderedStep): boolean => to.kind === 'absent'
  const coming = new Set(steps.filter((step) => !isGoing(step)).map(({ path }) => foldKey(path)))
  return new Set(
    steps.filter((step) => isGoing(step) && coming.has(foldKey(step.path))).map(({ path }) => path),
  )
}

function phaseOf(step: UnorderedStep, roomFor: ReadonlySet<RelPath>): StepPhase {
  if (step.to.kind === 'absent') {
    if (roomFor.size > 0 && isBelowAny(step.path, roomFor)) return 'room'
    return step.from.kind === 'dir' ? 'rmdir' : 'delete'
  }
  return closesDirectory(step.from, step.to) ? 'modes' : 'create'
}

function closesDirectory(from: State, to: State): boolean {
  return from.kind === 'dir' && to.kind === 'dir' && (to.mode & OWNER_WRITES) !== OWNER_WRITES
}

function isChildrenFirst(phase: StepPhase): boolean {
  return phase === 'room' || phase === 'rmdir' || phase === 'modes'
}

function isBelowAny(path: RelPath, folders: ReadonlySet<RelPath>): boolean {
  for (let folder = parentOf(path); folder !== ''; folder = parentOf(folder))
    if (folders.has(folder)) return true
  return false
}

/** A parent's path is a prefix of its children's, so it sorts before all of them. */
function compare(a: RelPath, b: RelPath): number {
  return a < b ? -1 : a > b ? 1 : 0
}
