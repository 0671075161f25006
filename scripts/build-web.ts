/*
 * Builds the web pages when the build that is there was not made from these sources. The stamp is over contents, not
 * times: a checkout of another branch and back, or a fresh clone with a restored cache, needs no new build.
 */
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Part, type PartOptions, startPart, tailOf } from './part.ts'
import { step } from './progress.ts'

const root = resolve(import.meta.dirname, '..')
const web = join(root, 'apps/web')
const stampFile = join(web, '.next/turnback-stamp')
const logFile = join(root, 'node_modules/.cache/turnback/web-build.log')

const OTHER_BUILD_TIMEOUT_MS = 300_000
const OTHER_BUILD_POLL_MS = 1_000

const build: PartOptions = {
  name: 'web build',
  command: [process.execPath, join(web, 'node_modules/next/dist/bin/next'), 'build'],
  cwd: web,
  env: { ...process.env, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' },
  logFile,
  endsByItself: true,
}

/** True when the build belongs to the sources as they are now. */
export function isWebBuilt(): boolean {
  return existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stampOfSources()
}

/** Builds, after another build of this checkout that is running already. @throws with the end of what it said */
export async function buildWeb(start: (options: PartOptions) => Part = startPart): Promise<void> {
  const deadline = Date.now() + OTHER_BUILD_TIMEOUT_MS
  for (;;) {
    const stamp = stampOfSources()
    rmSync(logFile, { force: true })
    const way = await start(build).ended
    if (way === 'exit 0') {
      writeFileSync(stampFile, stamp)
      return
    }
    const said = tailOf(logFile)
    if (!said.includes('Another next build') || Date.now() > deadline)
      throw new Error(`The web pages could not be built (${way}):\n${said}`)
    await new Promise((go) => setTimeout(go, OTHER_BUILD_POLL_MS))
    if (isWebBuilt()) return
  }
}

function stampOfSources(): string {
  const files = globSync(
    ['apps/web/**', 'packages/core/{src,package.json}', 'packages/core/src/**', 'pnpm-lock.yaml'],
    {
      cwd: root,
      withFileTypes: true,
      exclude: (entry) =>
        ['node_modules', '.next', 'next-env.d.ts'].includes(entry.name) ||
        entry.name.endsWith('.tsbuildinfo'),
    },
  )
  const hash = createHash('sha256').update(process.version)
  const paths = files.filter((entry) => entry.isFile() && !/\.test\.tsx?$/.test(entry.name))
  for (const path of paths.map((entry) => join(entry.parentPath, entry.name)).sort())
    hash
      .update(`\n${path.slice(root.length)}\n`)
      .update(createHash('sha256').update(readFileSync(path)).digest())
  return hash.digest('hex')
}

if (import.meta.main) {
  if (isWebBuilt()) console.log('The web build is up to date.')
  else await step('Building the web pages', () => buildWeb())
}
