import { hostname } from 'node:os'
import { join } from 'node:path'
import { DomainError, machineIdSchema, projectIdSchema } from '@turnback/core'
import { routes } from '@turnback/core/api'
import { z } from 'zod'
import { CLIENT_VERSION } from '#client-version.ts'
import type { Clock, Deps, Home, MachineIdentity } from '#ports.ts'
import { readStateFile, writeStateFile } from '#store/state-file.ts'
import { type Caller, makeCaller } from './caller.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Where this machine is enrolled. Holds no secret: the machine's key is the credential. */
const loginSchema = z.object({
  server: z.url(),
  machine: machineIdSchema,
  owner: z.object({ id: z.string(), name: z.string(), email: z.string() }),
  defaultProject: z.object({ id: projectIdSchema, name: z.string() }),
  enrolledAt: z.iso.datetime(),
})
export type Login = z.infer<typeof loginSchema>

export function loginFile(home: Home): string {
  return join(home.config, 'server.json')
}

export function findLogin(home: Home): Login | null {
  const file = readStateFile(loginFile(home), loginSchema)
  return file.kind === 'there' ? file.value : null
}

/** A service to talk to, and by what right. */
export interface Connection {
  readonly server: URL
  readonly bearer: string | null
}

/** `$TURNBACK_SERVER` and `$TURNBACK_TOKEN` override the login; null when there is nothing to go by. */
export function findConnection(home: Home, env: Environment): Connection | null {
  const login = findLogin(home)
  const bearer = env.TURNBACK_TOKEN === undefined || env.TURNBACK_TOKEN === '' ? null : env.TURNBACK_TOKEN
  const server =
    env.TURNBACK_SERVER === undefined || env.TURNBACK_SERVER === '' ? login?.server : env.TURNBACK_SERVER
  if (server === undefined || (login === null && bearer === null)) return null
  return { server: parseServer(server), bearer }
}

/** @throws NOT_LOGGED_IN */
export function getConnection(home: Home, env: Environment): Connection {
  const connection = findConnection(home, env)
  if (connection === null) throw new DomainError('NOT_LOGGED_IN')
  return connection
}

type CallerDeps = Pick<Deps, 'clock' | 'random' | 'identity'>

export function connectCaller(deps: CallerDeps, connection: Connection): Caller {
  const { server, bearer } = connection
  return makeCaller({ server, bearer, signer: deps.identity(), clock: deps.clock, random: deps.random })
}

/** @throws USAGE when it is no http or https address */
export function parseServer(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:') || url.username !== '') {
    throw new DomainError(
      'USAGE',
      { url: text },
      { message: `"${text}" is not the address of a Turnback service.` },
    )
  }
  url.search = ''
  url.hash = ''
  return url
}

/** True when what is sent can be read on the way: plain http to another machine. */
export function isOpenToReaders(server: URL): boolean {
  const isLoopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\]|.+\.localhost)$/.test(server.hostname)
  return server.protocol === 'http:' && !isLoopback
}

export interface EnrollmentLink {
  readonly server: URL
  readonly code: string | null
}

/** Reads `https://host/enroll#CODE`, or the plain address of a service. @throws USAGE */
export function parseEnrollmentLink(text: string): EnrollmentLink {
  const server = parseServer(text)
  const fragment = decodeURIComponent(new URL(text).hash.slice(1)).trim()
  server.pathname = server.pathname.replace(/\/enroll\/?$/, '/')
  return { server, code: fragment === '' ? null : fragment }
}

/** What a machine signs to show that it holds the key that it enrols with. ASCII but for the code. */
function enrollmentToBeSigned(
  code: string,
  identity: Pick<MachineIdentity, 'machine' | 'ageRecipient'>,
): string {
  return `turnback/enroll/v1\n${code}\n${identity.machine}\n${identity.ageRecipient}`
}

export interface EnrollParts {
  readonly caller: Caller
  readonly identity: MachineIdentity
  readonly clock: Clock
  readonly home: Home
}

/** Enrols this machine and writes down where. @throws ENROLLMENT_CODE_INVALID, SERVER_UNREACHABLE … */
export async function enroll(parts: EnrollParts, code: string, name = hostname()): Promise<Login> {
  const { identity } = parts
  const answer = await parts.caller.call(routes.enrollMachine, {
    body: {
      code,
      machine: identity.machine,
      name: name.trim().slice(0, 100) || 'machine',
      publicKey: identity.publicKey,
      recipient: identity.ageRecipient,
      proof: identity.sign(Buffer.from(enrollmentToBeSigned(code, identity))),
      version: CLIENT_VERSION,
    },
  })
  const login: Login = {
    server: parts.caller.server.href,
    machine: identity.machine,
    owner: answer.owner,
    defaultProject: answer.defaultProject,
    enrolledAt: new Date(parts.clock.nowMs()).toISOString(),
  }
  writeStateFile(loginFile(parts.home), login)
  return login
}
