import { chmodSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** A developer's machine on which agents are set up: a home, and one project. */
export interface InstallScene {
  /** Holds all of it. */
  readonly top: string
  readonly user: string
  readonly project: string
  readonly env: Record<string, string>
}

export function makeInstallScene(): InstallScene {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'turnback-install-')))
  const [user, project] = [join(top, 'user'), join(top, 'project')]
  mkdirSync(project)
  mkdirSync(user)
  return { top, user, project, env: { HOME: user, TURNBACK_HOME: join(top, 'home'), PATH: '/usr/bin:/bin' } }
}

/** Writes a file with the folders above it. */
export function putFile(file: string, text: string | Uint8Array, mode = 0o644): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text, { mode })
  chmodSync(file, mode)
}
