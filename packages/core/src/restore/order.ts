import { foldKey } from '#path/fold.ts'
import { parentOf, type RelPath } from '#path/rel-path.ts'
import type { State } from '#tree/state.ts'
import { databaseOf } from './database-files.ts'
import type { PlanStep, StepPhase } from './restore-plan.ts'

const PHASES: Readonly<Record<StepPhase, number>> = { room: 0, create: 1, delete: 2, rmdir: 3, modes: 4 }
const OWNER_WRITES = 0o300

/** A step that has not been given its place yet. */
export type UnorderedStep = Omit<PlanStep, 'phase'>

/**
 * Gives each step its phase and puts them in the order in which a file system can take them: removals that
 * make room, children first; all that is to exist, parents first; other files; directories, children first;
 * at the end directories that are to be closed to their owner. The files of one database stand side by side: it is never
 * there with a log that is not its own for longer than it takes to go from one step to the next.
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
  const phased = steps.map((step) => ({
    ...step,
    phase: twins.has(step.path) ? ('room' as const) : phaseOf(step, roomFor),
  }))
  const databases = new Map(phased.filter(isOfFile).map((step) => [step.path, step]))
  return phased
    .map((step) => placed(step, databases))
    .sort(
      (a, b) =>
        PHASES[a.step.phase] - PHASES[b.step.phase] ||
        (isChildrenFirst(a.step.phase) ? -1 : 1) * compare(a.place, b.place) ||
        a.rank - b.rank,
    )
    .map(({ step }) => step)
}

interface Placed {
  readonly step: PlanStep
  /** The path among which it stands. */
  readonly place: RelPath
  /** Its place among those that stand together. */
  readonly rank: number
}

/** Beside its database: a log that goes goes just before, and one that comes comes just after. */
function placed(step: PlanStep, databases: ReadonlyMap<RelPath, PlanStep>): Placed {
  const base = databaseOf(step.path)
  const database = base === step.path || !isOfFile(step) ? undefined : databases.get(base)
  if (database === undefined) return { step, place: step.path, rank: 0 }
  if (step.to.kind !== 'absent') return { step, place: base, rank: 1 }
  const phase = step.phase === 'delete' ? database.phase : step.phase
  return { step: { ...step, phase }, place: base, rank: -1 }
}

function isOfFile({ from, to }: UnorderedStep): boolean {
  return from.kind !== 'dir' && to.kind !== 'dir'
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
