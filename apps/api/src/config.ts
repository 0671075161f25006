import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'

/** What the application needs to know. Made by {@link readConfig}, or by a test. */
export interface AppConfig {
  /** Where browsers and machines reach the service, without a slash at the end. */
  readonly publicUrl: string
  /** The web's own server, to which all that is not the API's is passed on; null: there is none. */
  readonly webOrigin: string | null
  /** Signs session cookies. */
  readonly secret: string
  /** Addresses of proxies whose forwarded headers are believed. */
  readonly trustedProxies: readonly string[]
  readonly version: string
}

/** What the process needs beside: where to listen, and where things are kept. */
export interface ServiceConfig {
  readonly host: string
  readonly port: number
  readonly dataDir: string
  /** Null: the embedded PostgreSQL. */
  readonly databaseUrl: string | null
  readonly publicUrl: string | null
  readonly webOrigin: string | null
  readonly secret: string | null
  readonly trustedProxies: readonly string[]
  readonly logLevel: LogLevel
}

const logLevelSchema = z.enum(['silent', 'error', 'warn', 'info', 'debug'])
export type LogLevel = z.infer<typeof logLevelSchema>

const originSchema = z.url({ protocol: /^https?$/ }).transform((text) => new URL(text).origin)
const envSchema = z.object({
  HOST: z.string().default('127.0.0.1'),
  PORT: z.coerce.number().int().min(0).max(65_535).default(4600),
  TURNBACK_DATA: z.string().optional(),
  DATABASE_URL: z.string().optional(),
  PUBLIC_URL: originSchema.optional(),
  WEB_ORIGIN: originSchema.optional(),
  TURNBACK_SECRET: z.string().min(32).optional(),
  TRUSTED_PROXIES: z.string().default(''),
  LOG_LEVEL: logLevelSchema.default('info'),
})

/** Reads the environment. @throws when a variable is not as it should be; the error names it */
export function readConfig(env: NodeJS.ProcessEnv): ServiceConfig {
  const given = envSchema.parse(env)
  return {
    host: given.HOST,
    port: given.PORT,
    dataDir: given.TURNBACK_DATA ?? defaultDataDir(env),
    databaseUrl: given.DATABASE_URL ?? null,
    publicUrl: given.PUBLIC_URL ?? null,
    webOrigin: given.WEB_ORIGIN ?? null,
    secret: given.TURNBACK_SECRET ?? null,
    trustedProxies: given.TRUSTED_PROXIES.split(',').filter((address) => address !== ''),
    logLevel: given.LOG_LEVEL,
  }
}

function defaultDataDir(env: NodeJS.ProcessEnv): string {
  if (process.getuid?.() === 0) return '/var/lib/turnback'
  return join(env.XDG_DATA_HOME ?? join(homedir(), '.local/share'), 'turnback-server')
}

/** The secret that the service keeps for itself when none is given: made once, readable by its owner only. */
export function readOrMakeSecret(dataDir: string): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o711 })
  const file = join(dataDir, 'secret')
  if (!existsSync(file)) {
    writeFileSync(`${file}.new`, randomBytes(32).toString('base64url'), { mode: 0o600, flush: true })
    renameSync(`${file}.new`, file)
  }
  return readFileSync(file, 'utf8')
}
