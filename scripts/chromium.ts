/*
 * Finds the Chromium for the browser tests, or gets one. Playwright's own download is the last choice: many build
 * machines cannot reach it, while a distribution's package comes from the mirror that they use anyway.
 */
import { spawnSync } from 'node:child_process'
import { accessSync, constants, readFileSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
const fixedPlaces = [
  '/usr/bin/chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
]

export interface Machine {
  env: Readonly<Record<string, string | undefined>>
  isExecutable: (path: string) => boolean
}

/** Path of a Chromium that is here already; null if there is none. A path named by TURNBACK_CHROMIUM must hold. */
export function findChromium({ env, isExecutable }: Machine = thisMachine): string | null {
  const named = env.TURNBACK_CHROMIUM
  if (named) {
    if (isExecutable(named)) return named
    throw new Error(`TURNBACK_CHROMIUM names ${named}, which is no program.`)
  }
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  const candidates = names.flatMap((name) => folders.map((folder) => join(folder, name)))
  return [...candidates, ...fixedPlaces].find(isExecutable) ?? null
}

/** Path of a Chromium, installed if need be; null means Playwright's own, which is then in its place. */
export function provideChromium(): string | null {
  const found = findChromium()
  if (found) return found
  if (isDebian() && process.getuid?.() === 0) {
    say("none on this machine; installing Debian's package")
    run('apt-get', ['update', '-q'])
    run('apt-get', ['install', '-y', '-q', '--no-install-recommends', 'chromium', 'fonts-liberation'])
    return findChromium() ?? fail('the package is installed, but brought no chromium')
  }
  say("none on this machine; installing Playwright's own (set TURNBACK_CHROMIUM to use another)")
  run(resolve(import.meta.dirname, '../e2e/node_modules/.bin/playwright'), ['install', 'chromium'])
  return null
}

const thisMachine: Machine = {
  env: process.env,
  isExecutable: (path) => {
    try {
      accessSync(path, constants.X_OK)
      return true
    } catch {
      return false
    }
  },
}

function isDebian(): boolean {
  try {
    return /^ID=debian$/m.test(readFileSync('/etc/os-release', 'utf8'))
  } catch {
    return false
  }
}

function run(command: string, args: string[]): void {
  say(`${command} ${args.join(' ')}`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  // stdout of this script is the path alone.
  const done = spawnSync(command, args, { stdio: ['ignore', 2, 2], env })
  if (done.status !== 0) fail(`${command} failed: ${done.error?.message ?? `exit ${done.status}`}`)
}

function say(text: string): void {
  process.stderr.write(`chromium: ${text}\n`)
}

function fail(text: string): never {
  throw new Error(`chromium: ${text}`)
}

if (import.meta.main) console.log(provideChromium() ?? '')
