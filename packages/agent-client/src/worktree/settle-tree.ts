import { readdirSync, renameSync, unlinkSync } from 'node:fs'
import { nameOf, parentOf, type RelPath } from '@turnback/core'
import type { FolderMode, TreeStep } from '#write-ports.ts'
import { type Folder, PathBlocked } from './anchored.ts'
import { holdsIn, type IsNamed, lstatIn } from './look.ts'
import { parseTempName } from './temp-name.ts'
import { putBackAside } from './write-file.ts'
import { isNarrow, isWidened, narrow, widen } from './write-folder.ts'

interface Run {
  open(folder: RelPath): Folder
  /** What the run's temporary names have in common. */
  readonly tag: string
  readonly isNamed: IsNamed
}

/** Clears up after a run that was cut off; see {@link TreeWriter.settle}. */
export function settleTree(run: Run, steps: readonly TreeStep[], widened: readonly FolderMode[]): void {
  for (const folder of new Set(steps.map((step) => parentOf(step.path)))) settleFolder(run, folder, steps)
  const given = new Map(steps.map((step) => [step.path, step.to]))
  for (const { path, mode } of widened) {
    const to = given.get(path)
    // The mode that stands there may be the one that the restore was to give.
    if (to?.kind === 'dir' && to.mode === (mode | 0o300)) continue
    try {
      using folder = run.open(path)
      if (isWidened(folder, mode)) narrow(folder, mode)
    } catch (error) {
      if (!(error instanceof PathBlocked)) throw error
    }
  }
}

function settleFolder(run: Run, path: RelPath, steps: readonly TreeStep[]): void {
  try {
    using folder = run.open(path)
    const left = readdirSync(folder.self)
      .map((name) => ({ name, temp: parseTempName(name) }))
      .filter((entry) => entry.temp?.tag === run.tag)
    if (left.length === 0) return
    const mode = isNarrow(folder)
    if (mode !== null) widen(folder, mode)
    for (const { name, temp } of left)
      settleName(run, folder, name, steps[temp?.index ?? -1], temp?.role ?? 'old')
    if (mode !== null) narrow(folder, mode)
  } catch (error) {
    if (!(error instanceof PathBlocked)) throw error
  }
}

/** Bytes on their way in are in the store; a file on its way out goes only if it is what was to go. */
function settleName(
  run: Run,
  folder: Folder,
  temp: string,
  step: TreeStep | undefined,
  role: 'new' | 'old',
): void {
  const isOurs = role === 'new' || (step !== undefined && holdsIn(folder, temp, step.from, run.isNamed))
  if (isOurs) unlinkSync(folder.at(temp))
  else if (step !== undefined) settleAside(run, folder, temp, step)
}

/**
 * What is aside under a second name while its place is taken: by itself, when it was not replaced yet; by what the run had
 * written over it. Then somebody saved into it at the last moment, unless a run that went back had done the replacing.
 */
function settleAside(run: Run, folder: Folder, temp: string, step: TreeStep): void {
  const name = nameOf(step.path)
  const [aside, there] = [lstatIn(folder, temp), lstatIn(folder, name)]
  if (aside === null) return
  const holds = (at: string, state: TreeStep['to']): boolean => holdsIn(folder, at, state, run.isNamed)
  if (there !== null && there.dev === aside.dev && there.ino === aside.ino) unlinkSync(folder.at(temp))
  else if (there !== null && holds(temp, step.to)) unlinkSync(folder.at(temp))
  else if (there?.isFile() === true && (holds(name, step.to) || holds(name, step.from)))
    renameSync(folder.at(temp), folder.at(name))
  else putBackAside({ folder, name, temp })
}
