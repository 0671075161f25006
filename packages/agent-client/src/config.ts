import { mkdirSync, readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { DomainError, type ErrorDetails, limits } from '@turnback/core'
import type { Config, Home } from '#ports.ts'
import { findJsonFault } from './json-place.ts'
import { orUnusable, storeUnusable } from './unusable.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** Where everything of ours lies: below `$TURNBACK_HOME` when that is set, else in the XDG folders. */
export function findHome(env: Environment): Home {
  const one = env.TURNBACK_HOME
  if (one !== undefined && one !== '') {
    const base = resolve(one)
    return {
      config: base,
      store: join(base, 'store'),
      keys: join(base, 'keys'),
      logs: join(base, 'logs'),
      socket: join(base, 'socket'),
    }
  }
  const user = env.HOME ?? homedir()
  const folder = (variable: string, fallback: string) => {
    const given = env[variable]
    return join(given !== undefined && isAbsolute(given) ? given : join(user, fallback), 'turnback')
  }
  const data = folder('XDG_DATA_HOME', '.local/share')
  const state = folder('XDG_STATE_HOME', '.local/state')
  return {
    config: folder('XDG_CONFIG_HOME', '.config'),
    store: join(data, 'store'),
    keys: join(data, 'keys'),
    logs: join(state, 'logs'),
    socket: join(folder('XDG_RUNTIME_DIR', '.local/state'), 'socket'),
  }
}

/** Makes the folders that are not there yet, for nobody but their owner. @throws STORE_UNUSABLE, STORE_FULL */
export function makeFolders(home: Home): void {
  for (const folder of [home.config, home.store, home.keys, home.logs])
    orUnusable(folder, () => makeFolder(folder))
}

/** One by one: where a system says that a folder is not there that is, Node's own way of making them all never ends. */
function makeFolder(folder: string): void {
  const there = statSync(folder, { throwIfNoEntry: false })
  if (there?.isDirectory() === true) return
  if (there !== undefined) throw storeUnusable(folder, 'EEXIST', null)
  if (statSync(dirname(folder), { throwIfNoEntry: false }) === undefined) makeFolder(dirname(folder))
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // Another process may just have made it.
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) throw error
  }
}

type NumberField = 'maxFileBytes' | 'diskBudgetBytes' | 'retentionDays' | 'retentionTurns'

const DEFAULTS: Config = {
  maxFileBytes: limits.fileBytes,
  diskBudgetBytes: 5 * 1024 ** 3,
  retentionDays: 14,
  retentionTurns: 10_000,
  watch: 'auto',
  include: [],
}

/** What `config.json` says, with what it leaves out as it is by default. @throws CONFIG_INVALID */
export function loadConfig(home: Home): Config {
  const file = join(home.config, 'config.json')
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    if (error.code === 'ENOENT') return DEFAULTS
    throw invalid(file, { why: error.code }, `It cannot be read (${error.code}).`, error)
  }
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch (cause) {
    const place = findJsonFault(text)
    const where = place === null ? '' : ` at line ${place.line}, column ${place.column}`
    throw invalid(file, { why: 'not JSON', ...place }, `It is not JSON${where}.`, cause)
  }
  return readConfig(parsed, file)
}

function invalid(file: string, facts: ErrorDetails, what: string, cause?: unknown): DomainError {
  const message = `The settings in ${file} cannot be used. ${what}`
  return new DomainError('CONFIG_INVALID', { file, ...facts }, { message, cause })
}

function readConfig(parsed: unknown, file: string): Config {
  const bad = (field: string, why: string) =>
    invalid(file, { field, why }, `${field === '' ? 'It' : `"${field}"`} has to be ${why}.`)
  if (typeof parsed !== 'object' || parsed === null) throw bad('', 'a JSON object')
  const whole = (field: NumberField, least: number) => {
    const value: unknown = Reflect.get(parsed, field) ?? DEFAULTS[field]
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < least)
      throw bad(field, `a whole number, ${least} or more`)
    return value
  }
  const include: unknown = Reflect.get(parsed, 'include') ?? DEFAULTS.include
  if (!Array.isArray(include) || !include.every((path): path is string => typeof path === 'string')) {
    throw bad('include', 'a list of paths')
  }
  const watch: unknown = Reflect.get(parsed, 'watch') ?? DEFAULTS.watch
  if (watch !== 'auto' && watch !== 'off') throw bad('watch', '"auto" or "off"')
  return {
    maxFileBytes: whole('maxFileBytes', 0),
    diskBudgetBytes: whole('diskBudgetBytes', 0),
    retentionDays: whole('retentionDays', 1),
    retentionTurns: whole('retentionTurns', 1),
    watch,
    include,
  }
}
