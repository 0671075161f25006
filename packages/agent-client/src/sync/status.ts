import { createHash } from 'node:crypto'
import type { RestoreId, TurnId } from '@turnback/core'
import { CLIENT_VERSION } from '#client-version.ts'
import type { Deps } from '#ports.ts'
import { findResident, type LinkState, type ResidentFacts } from '#store/resident-files.ts'
import { findConnection, findLogin } from './login.ts'
import { findPause, UNTIL_RESUMED } from './pause.ts'
import { loadPolicy, type Policy } from './policy.ts'
import { findLastError, type LastError } from './push.ts'
import { type RemotePlan, RemotePlans } from './remote-plans.ts'

/** How this machine stands with its service. Read from what is written down; nobody is asked. */
export interface SyncStatus {
  /** Finished turns that the service has not. */
  readonly unpushed: number
  /** Turns that could not be sent as they are; a stub stands for each. */
  readonly setAside: readonly { readonly turn: TurnId; readonly reason: string }[]
  /** Whether the resident runs and the service hears it. */
  readonly connected: boolean
  readonly resident: {
    readonly pid: number
    readonly link: LinkState
    readonly since: string
    /** Whether commands reach it without Node, and whether it hears of changes in trees. */
    readonly serves: boolean
    readonly watches: boolean
    /** Whether the client was changed since it started; then commands do their work themselves. */
    readonly isOutdated: boolean
  } | null
  readonly server: string | null
  readonly machine: { readonly id: string; readonly fingerprint: string } | null
  readonly policy: Policy
  readonly pausedUntil: string | null
  /** Restores that were asked for from afar and wait for a word here. */
  readonly pendingRemote: readonly {
    readonly restore: RestoreId
    readonly turn: TurnId
    readonly requestedBy: RemotePlan['requestedBy']
    /** When the request came. */
    readonly at: string
    /** What to type here to agree. */
    readonly command: string
  }[]
  readonly lastError?: LastError
}

export function describeSync(deps: Deps, env: Readonly<Record<string, string | undefined>>): SyncStatus {
  const resident = findResident(deps.home.store)
  const lastError = findLastError(deps.log)
  return {
    unpushed: deps.log.countOutbox().unpushed,
    setAside: deps.log.listSetAside().map(({ turn, why }) => ({ turn, reason: why })),
    connected: resident !== null && (resident.link === 'socket' || resident.link === 'poll'),
    resident: resident === null ? null : describeResident(resident),
    server: findConnection(deps.home, env)?.server.href ?? null,
    machine: findLogin(deps.home) === null ? null : describeMachine(deps),
    policy: loadPolicy(deps.home),
    pausedUntil: describePause(deps),
    pendingRemote: listPending(deps),
    ...(lastError === null ? {} : { lastError }),
  }
}

function describeResident(resident: ResidentFacts): SyncStatus['resident'] {
  const { link, since, serves, watches } = resident
  const isOutdated = resident.isOutdated || resident.version !== CLIENT_VERSION
  return { pid: resident.process.pid, link, since, serves: serves && !isOutdated, watches, isOutdated }
}

/** First characters of the hash of the signing key, as the machines page shows them too. */
export function fingerprintOf(publicKey: string): string {
  return createHash('sha256').update(Buffer.from(publicKey, 'base64url')).digest('hex').slice(0, 16)
}

function describeMachine(deps: Deps): { id: string; fingerprint: string } {
  const { machine, publicKey } = deps.identity()
  return { id: machine, fingerprint: fingerprintOf(publicKey) }
}

function describePause(deps: Deps): string | null {
  const end = findPause(deps.log, deps.clock.nowMs())
  return end === null || end === UNTIL_RESUMED ? end : new Date(end).toISOString()
}

function listPending(deps: Deps): SyncStatus['pendingRemote'] {
  if (loadPolicy(deps.home).remote !== 'ask') return []
  const plans = new RemotePlans(deps.log)
  const nowMs = deps.clock.nowMs()
  return plans
    .list()
    .filter((plan) => plan.state === 'planned' && !plans.isTooOld(plan, nowMs))
    .map(({ restore, request, requestedBy, receivedAtMs }) => ({
      restore,
      turn: request.turn,
      requestedBy,
      at: new Date(receivedAtMs).toISOString(),
      command: `turnback approve ${restore}`,
    }))
}
