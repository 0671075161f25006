import { readFileSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

export interface Account {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

/** PostgreSQL refuses to run as root, and we make no account of our own on somebody's machine. */
const CANDIDATES = ['postgres', 'nobody'] as const

/** The account to run PostgreSQL under, or null when this process is an ordinary user's and its own will do. */
export function findServiceAccount(): Account | null {
  if (process.getuid?.() !== 0) return null
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
  for (const candidate of CANDIDATES) {
    const [name, , uid, gid] = lines.find((line) => line.startsWith(`${candidate}:`))?.split(':') ?? []
    if (name !== undefined && uid !== undefined && gid !== undefined)
      return { name, uid: Number(uid), gid: Number(gid) }
  }
  throw new Error(
    `PostgreSQL does not run as root, and none of these accounts is in /etc/passwd: ${CANDIDATES.join(', ')}. ` +
      'Start the service as an ordinary user, or give it a database with DATABASE_URL.',
  )
}

/** The first folder on the way to `path` that others may not enter, or null. `path` itself counts. */
export function findClosedFolder(path: string): string | null {
  const ways: string[] = []
  for (let at = resolve(path); ; at = dirname(at)) {
    ways.unshift(at)
    if (dirname(at) === at) break
  }
  return ways.find((folder) => (statSync(folder).mode & 0o001) === 0) ?? null
}
