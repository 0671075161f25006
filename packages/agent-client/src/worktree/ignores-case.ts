import { lstatSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isSystemError } from './fault.ts'

/** What is looked at to find out. */
interface Disk {
  /** The place of what has the name, or null when nothing has. */
  place(path: string): string | null
  list(folder: string): readonly string[]
}

const REAL: Disk = {
  place(path) {
    const there = lstatSync(path, { bigint: true, throwIfNoEntry: false })
    return there === undefined ? null : `${there.dev}:${there.ino}`
  },
  list: (folder) => readdirSync(folder),
}

/**
 * Whether names that differ in letter case only are one name in a folder. Nothing is written to find out: a name that is
 * there is asked for in the other case. A folder that cannot be looked into is taken to mind case: whoever writes there
 * finds out what is wrong with it, and says so.
 */
export function ignoresCase(root: string, disk: Disk = REAL): boolean {
  try {
    return findOut(root, disk)
  } catch (error) {
    if (isSystemError(error)) return false
    throw error
  }
}

function findOut(root: string, disk: Disk): boolean {
  for (const [folder, names] of namesToTry(root, disk)) {
    for (const name of names) {
      const other = inOtherCase(name)
      if (other === name || names.includes(other)) continue
      const place = disk.place(join(folder, name))
      // It went while this looked, and says nothing.
      if (place === null) continue
      return disk.place(join(folder, other)) === place
    }
  }
  return false
}

/** What is in the folder tells of the folder; only an empty one is judged by its own name. */
function* namesToTry(root: string, disk: Disk): Generator<[folder: string, names: readonly string[]]> {
  yield [root, disk.list(root)]
  yield [dirname(root), [basename(root)]]
}

function inOtherCase(name: string): string {
  return name.replace(/[a-zA-Z]/g, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  )
}
