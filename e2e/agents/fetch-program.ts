/*
 * One folder per program and version in a cache outside the checkout. A folder under its final name is whole: npm fills
 * another one, which is renamed when it is done, so a run that is cut off leaves only something to be cleared away.
 */
import { spawn } from 'node:child_process'
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as wait } from 'node:timers/promises'
import { type AgentName, type Program, programs } from './programs.ts'

const LOCK_POLL_MS = 500
const ERRCODE_BUSY = 5

/** Where the programs are kept between runs. */
function cacheFolder(): string {
  const { TURNBACK_AGENTS_CACHE: own, XDG_CACHE_HOME: caches } = process.env
  return own || join(caches || join(homedir(), '.cache'), 'turnback-agents')
}

/** Where the command of an agent is, once it is fetched. */
export function commandOf(agent: AgentName): string {
  return join(folderOf(agent), 'node_modules/.bin', programs[agent].command)
}

/** Where a fetched program is. */
function folderOf(agent: AgentName): string {
  return join(cacheFolder(), `${agent}-${programs[agent].version}`)
}

/** The folder with what the program would fetch by itself, as npm leaves it: package.json, the lock, node_modules. */
export function laterFolderOf(agent: AgentName): string {
  return join(folderOf(agent), 'later')
}

/**
 * Gives the command of an agent, fetching it first if it is not there yet. What is there needs no network.
 * @throws Error that says what could not be fetched, and npm's own words about it
 */
export async function fetchProgram(agent: AgentName, say: (line: string) => void): Promise<string> {
  const program: Program = programs[agent]
  const cache = cacheFolder()
  const folder = folderOf(agent)
  const command = commandOf(agent)
  if (existsSync(command)) return command
  mkdirSync(cache, { recursive: true })
  const unlock = await lock(join(cache, `${agent}.lock`), () =>
    say(`${agent}: another run fetches it; waiting`),
  )
  try {
    if (existsSync(command)) return command
    for (const left of globSync(`${agent}-*.partial`, { cwd: cache }))
      rmSync(join(cache, left), { recursive: true, force: true })
    say(`${agent}: fetching ${program.package} ${program.version}`)
    const partial = `${folder}.partial`
    await install(program, partial)
    // Something under the final name without its command is nothing that this has made.
    rmSync(folder, { recursive: true, force: true })
    renameSync(partial, folder)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw new Error(`could not fetch ${program.package} ${program.version} for ${agent}: ${why}`)
  } finally {
    unlock()
  }
  if (!existsSync(command))
    throw new Error(`${program.package} ${program.version} has no command ${program.command}`)
  return command
}

/** SQLite's lock goes with the process that holds it, however that one ends. */
async function lock(file: string, onWait: () => void): Promise<() => void> {
  const database = new DatabaseSync(file, { timeout: 0 })
  for (let isSaid = false; ; isSaid = true) {
    try {
      database.exec('BEGIN EXCLUSIVE')
      return () => database.close()
    } catch (error) {
      if (!(error instanceof Error && 'errcode' in error && error.errcode === ERRCODE_BUSY)) throw error
      if (!isSaid) onWait()
      await wait(LOCK_POLL_MS)
    }
  }
}

async function install(program: Program, folder: string): Promise<void> {
  await installPackage(folder, program.package, program.version)
  const got = findIntegrity(folder, program.package)
  if (got !== program.integrity)
    throw new Error(`the registry gives ${got}, and ${program.integrity} is pinned`)
  if (program.later !== undefined) await installPackage(join(folder, 'later'), program.later, program.version)
}

async function installPackage(folder: string, name: string, version: string): Promise<void> {
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ dependencies: { [name]: version } }))
  await runNpm(folder, ['install', '--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'])
}

/** npm checked the bytes against what it notes here. */
function findIntegrity(folder: string, name: string): unknown {
  const lockFile: unknown = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'))
  const packages = fieldOf(lockFile, 'packages')
  return fieldOf(fieldOf(packages, `node_modules/${name}`), 'integrity')
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

function runNpm(folder: string, args: readonly string[]): Promise<void> {
  return new Promise((done, fail) => {
    // The Node that runs this also runs npm and what the packages do when they are installed.
    const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter)
    const npm = spawn('npm', args, {
      cwd: folder,
      env: { ...process.env, PATH },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let said = ''
    npm.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
    npm.once('error', fail)
    npm.once('close', (code) =>
      code === 0 ? done() : fail(new Error(`npm ends with ${code}\n${said.trimEnd()}`)),
    )
  })
}
