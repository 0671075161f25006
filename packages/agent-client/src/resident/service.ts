import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { DomainError } from '@turnback/core'
import type { Environment } from '#config.ts'
import type { Home } from '#ports.ts'
import { describeService, type ServiceFile } from './service-file.ts'

/** The service file of this user on this machine. @throws USAGE */
export function findService(home: Home, env: Environment): ServiceFile {
  return describeService({
    platform: process.platform,
    uid: process.getuid?.() ?? 0,
    program: findProgram(),
    env: env.TURNBACK_HOME ? { ...env, TURNBACK_HOME: home.config } : env,
    user: env.HOME ?? homedir(),
    logs: home.logs,
  })
}

/** `bin/turnback` of this installation: beside the package, or two above it in a checkout. */
export function findProgram(): string {
  const top = join(dirname(fileURLToPath(import.meta.url)), '../..')
  const found = [join(top, 'bin/turnback'), join(top, '../../bin/turnback')].find((file) => existsSync(file))
  if (found === undefined)
    throw new DomainError('INTERNAL', {}, { message: `There is no bin/turnback for ${top}.` })
  return found
}

/**
 * Writes the file and has it started. What is as it should be is left alone.
 * @returns whether the file was written
 * @throws SERVICE_REFUSED; the file is there then
 */
export async function installService(service: ServiceFile): Promise<boolean> {
  const there = readOwn(service)
  const isChanged = there !== service.text
  if (isChanged) {
    // Known by another text until now: launchd takes no second one.
    if (there !== null && service.manager === 'launchd') await runAll(service.stop)
    mkdirSync(dirname(service.file), { recursive: true })
    const temporary = `${service.file}.tmp`
    writeFileSync(temporary, service.text, { mode: 0o600 })
    renameSync(temporary, service.file)
  }
  if (isChanged || service.manager === 'systemd') await runAll(service.start)
  return isChanged
}

/** Ends it and removes the file. @returns whether there was one */
export async function removeService(service: ServiceFile): Promise<boolean> {
  if (readOwn(service) === null) return false
  await runAll(service.stop)
  rmSync(service.file)
  return true
}

/** Null when there is none. @throws VALIDATION_FAILED when it is somebody else's */
function readOwn({ file }: ServiceFile): string | null {
  if (!existsSync(file)) return null
  const text = readFileSync(file, 'utf8')
  if (/^.*\n?.*Written by `turnback connect/.test(text)) return text
  const message = `${file} was not written by this program, so it is left as it is.`
  throw new DomainError('VALIDATION_FAILED', { file }, { message })
}

async function runAll(commands: readonly (readonly string[])[]): Promise<void> {
  for (const [program = '', ...args] of commands) {
    try {
      await promisify(execFile)(program, args)
    } catch (error) {
      const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : ''
      const line = [program, ...args].join(' ')
      const why = said === '' && error instanceof Error ? error.message : said
      throw new DomainError('SERVICE_REFUSED', { command: line, why }, { cause: error })
    }
  }
}
