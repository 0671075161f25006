import { type ChildProcess, spawn } from 'node:child_process'
import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { isAbsolute, join, relative, sep } from 'node:path'
import type { Environment } from '#config.ts'
import type { SetupFacts } from './setup.ts'

/** How much of what a program prints is looked at. */
const READ_BYTES = 4 * 1024 * 1024

export interface Ran {
  /** Null when it was ended by the time limit, or could not be started. */
  readonly code: number | null
  readonly out: string
  readonly errors: string
}

export interface RunRequest {
  readonly program: string
  readonly args: readonly string[]
  readonly env: Environment
  readonly folder: string
  readonly input: string
  readonly limitMs: number
  /** True for a program whose standard input stays open until this is found in what it has printed. */
  readonly until?: (out: string) => boolean
}

/** Runs a program to its end, or to the time limit: then it and all that it has started is ended. */
export function runProgram(request: RunRequest): Promise<Ran> {
  const { promise, resolve } = Promise.withResolvers<Ran>()
  let out = ''
  let errors = ''
  const child = spawn(request.program, [...request.args], {
    ...{ cwd: request.folder, env: { ...request.env }, stdio: 'pipe' },
    // A group of its own, so that nothing of it is left.
    detached: true,
  })
  const timer = setTimeout(() => endAll(child), request.limitMs)
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    if (out.length < READ_BYTES) out += piece
    if (request.until?.(out) === true) child.stdin.end()
  })
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    if (errors.length < READ_BYTES) errors += piece
  })
  // It may end without having read all.
  child.stdin.on('error', () => {})
  child.stdin.write(request.input)
  if (request.until === undefined) child.stdin.end()
  const end = (code: number | null) => {
    clearTimeout(timer)
    endAll(child)
    resolve({ code, out, errors })
  }
  child.on('error', () => end(null))
  child.on('close', end)
  return promise
}

function endAll({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // All of it has ended by itself.
  }
}

/**
 * Where the first of these programs is on the PATH; null when none is. What lies in the project came with its files, and
 * is not for us to start.
 */
export function findOnPath(
  programs: readonly string[],
  { env, project }: Pick<SetupFacts, 'env' | 'project'>,
): string | null {
  const folders = (env.PATH ?? '').split(':').filter((folder) => isAbsolute(folder) && !isIn(project, folder))
  for (const program of programs)
    for (const folder of folders) if (isProgram(join(folder, program))) return join(folder, program)
  return null
}

function isIn(project: string | null, folder: string): boolean {
  if (project === null) return false
  try {
    const way = relative(realpathSync(project), realpathSync(folder))
    return way !== '..' && !way.startsWith(`..${sep}`)
  } catch {
    // Not there: nothing in it is started either.
    return true
  }
}

export function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    // Not there, or nothing that one may start.
    return false
  }
}
