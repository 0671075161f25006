import { mkdirSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join, resolve } from 'node:path'
import { DomainError, limits } from '@turnback/core'
import type { Config, Home } from '#ports.ts'

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

/** Makes the folders that are not there yet, for nobody but their owner. */
export function makeFolders(home: Home): void {
  for (const folder of [home.config, home.store, home.keys, home.logs]) {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
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

/** What `config.json` says, with what it leaves out as it is by default. @throws VALIDATION_FAILED */
export function loadConfig(home: Home): Config {
  const file = join(home.config, 'config.json')
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return DEFAULTS
    throw error
  }
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch (cause) {
    throw new DomainError('VALIDATION_FAILED', { file, why: 'not JSON' }, { cause })
  }
  return readConfig(parsed, file)
}

function readConfig(parsed: unknown, file: string): Config {
  const bad = (field: string, why: string) =>
    new DomainError(
      'VALIDATION_FAILED',
      { file, field, why },
      { message: `${file}: ${field === '' ? 'it' : `"${field}"`} has to be ${why}.` },
    )
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
