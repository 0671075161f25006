import {
  type Change,
  type Entry,
  invariant,
  limits,
  MANIFEST_FORMAT,
  parentOf,
  type RelPath,
  type RestoreDetail,
  type SkippedPath,
  type TurnId,
  type TurnManifest,
} from '@turnback/core'
import type { CaptureDeps, TurnFacts } from '#capture-ports.ts'
import type { Leases, TurnRow, Workspace } from '#ports.ts'
import { toEntries } from './entries.ts'
import { countCoverage } from './losses.ts'
import { findSecretPaths, sealPaths } from './seal-secrets.ts'

/** What an agent or a person waits for the search of what a turn changed: a whole tree takes longer. */
const SEARCH_MS = 8000
/** What an agent waits for whose turn begins while others are signed. */
const SIGN_MS = 50

/** Which paths of turns hold secrets, as far as somebody has looked. */
type FoundSecrets = ReadonlyMap<TurnId, ReadonlySet<RelPath>>

/**
 * Searches what unsigned turns changed, oldest first. Needs no lease: what a closed turn changed stays as it is.
 * @param untilMs when it is given up, in milliseconds since 1970; null to take the time it takes
 */
async function searchUnsigned(
  deps: CaptureDeps,
  workspace: Workspace,
  untilMs: number | null,
): Promise<FoundSecrets> {
  const found = new Map<TurnId, ReadonlySet<RelPath>>()
  for (const turn of deps.captureLog.listUnsigned(workspace.id)) {
    const secret = await findSecretPaths(deps, workspace, deps.captureLog.listChangesOf(turn), untilMs)
    if (secret === null) break
    found.set(turn.turn, secret)
  }
  return found
}

/**
 * Searches and signs the manifests of closed turns that have none yet, oldest first. With the lease held. A turn that is
 * not searched after {@link SEARCH_MS} is left to who comes next.
 */
export async function signClosedTurns(deps: CaptureDeps, workspace: Workspace): Promise<void> {
  const untilMs = deps.clock.nowMs() + SEARCH_MS
  for (const turn of deps.captureLog.listUnsigned(workspace.id)) {
    const made = deps.captureLog.listChangesOf(turn)
    const secret = await findSecretPaths(deps, workspace, made, untilMs)
    // The chain keeps the order of turns.
    if (secret === null) return
    signSearched(deps, workspace, turn, made, secret)
  }
}

/**
 * The same in a process where others wait for the tree: the search needs no lease, and the signing holds it only
 * {@link SIGN_MS} at a time, however many turns there are.
 * @param untilMs when the search is given up; what it did not come to is left unsigned
 */
export async function signBesideOthers(
  deps: CaptureDeps & { readonly leases: Leases },
  workspace: Workspace,
  { isStopped = () => false, untilMs = null }: { isStopped?: () => boolean; untilMs?: number | null } = {},
): Promise<void> {
  const found = await searchUnsigned(deps, workspace, untilMs)
  for (let isMore = found.size > 0; isMore && !isStopped(); ) {
    isMore = await deps.leases.run(workspace, 'capture', async () => signSome(deps, workspace, found))
    await new Promise((done) => setImmediate(done))
  }
}

/** @returns whether there are more of those that were searched */
function signSome(deps: CaptureDeps, workspace: Workspace, found: FoundSecrets): boolean {
  const until = performance.now() + SIGN_MS
  return deps.log.transact(() => {
    for (const turn of deps.captureLog.listUnsigned(workspace.id)) {
      const secret = found.get(turn.turn)
      // One that was closed since: the chain keeps the order of turns, so it and what follows is left to its own end.
      if (secret === undefined) return false
      if (performance.now() > until) return true
      signSearched(deps, workspace, turn, deps.captureLog.listChangesOf(turn), secret)
    }
    return false
  })
}

function signSearched(
  deps: CaptureDeps,
  workspace: Workspace,
  turn: TurnRow,
  made: readonly Change[],
  secret: ReadonlySet<RelPath>,
): void {
  const changes = sealPaths(deps, workspace, made, secret)
  deps.log.transact(() => {
    deps.blobs.flush()
    if (!deps.captureLog.isSigned(turn.turn)) signTurn(deps, workspace, turn, toEntries(changes), null)
  })
}

/** Makes, signs and chains one manifest. Inside a transaction. */
export function signTurn(
  deps: CaptureDeps,
  workspace: Workspace,
  turn: TurnRow,
  entries: readonly Pick<Entry, keyof Entry>[],
  restore: RestoreDetail | null,
): void {
  askTranscript(deps, turn)
  const { seq, prev } = deps.captureLog.peekChain(workspace.id)
  const identity = deps.identity()
  const manifest = makeManifest(deps, workspace, turn, entries, restore, {
    seq,
    prev,
    machine: identity.machine,
  })
  const envelope = identity.signEnvelope('turn', new TextEncoder().encode(JSON.stringify(manifest)))
  deps.captureLog.insertEnvelope(turn.turn, workspace.id, seq, prev, envelope)
}

/** What no hook said of the agent; by now the transcript is written. */
function askTranscript(
  { captureLog, agents, transcripts }: CaptureDeps,
  { turn, agent, transcript }: TurnRow,
): void {
  if (transcript === null) return
  const { agentModel, agentVersion } = captureLog.getFacts(turn)
  if (agentModel !== null && agentVersion !== null) return
  const said = transcripts.find(agent, transcript)
  if (said === null) return
  const model = agentModel ?? said.model
  agents.describe(turn, { prompt: null, model, version: said.version, transcript: null })
}

function makeManifest(
  deps: CaptureDeps,
  workspace: Workspace,
  turn: TurnRow,
  entries: readonly Entry[],
  restore: RestoreDetail | null,
  chain: Pick<TurnManifest, 'seq' | 'prev' | 'machine'>,
): TurnManifest {
  invariant(turn.endedAt !== null, 'only closed turns are signed')
  const {
    format,
    turn: id,
    kind,
    number,
    overlaps,
    skipped,
    ...rest
  } = describeTurn(deps, workspace, turn, entries)
  return {
    ...{ format, turn: id, kind, number },
    ...chain,
    ...rest,
    endedAt: turn.endedAt,
    overlaps,
    ...(restore === null ? {} : { restore }),
    entries: [...entries],
    skipped,
  }
}

/** What a manifest says of a turn beside its place in the chain; of an open one, as far as it is known by now. */
export function describeTurn(
  deps: Pick<CaptureDeps, 'captureLog'>,
  workspace: Workspace,
  turn: TurnRow,
  entries: readonly Entry[],
): Omit<TurnManifest, 'seq' | 'prev' | 'machine' | 'endedAt' | 'restore' | 'entries'> & {
  endedAt: string | null
} {
  const facts = deps.captureLog.getFacts(turn.turn)
  const known = deps.captureLog.summariseKnown(workspace.id)
  const skipped = listSkipped(known.skipped, entries)
  return {
    format: MANIFEST_FORMAT,
    turn: turn.turn,
    kind: turn.kind,
    number: turn.number,
    workspace: workspace.id,
    // The service knows projects by its own ids; which one a workspace belongs to is told at enrolment.
    project: null,
    session: cut(turn.session, limits.sessionCharacters),
    agent: turn.agent === null ? null : describeAgent(turn.agent, facts),
    task: cut(turn.task, limits.labelCharacters),
    label: cut(turn.label, limits.labelCharacters),
    startedAt: turn.startedAt,
    endedAt: turn.endedAt,
    endReason: turn.endReason,
    lateStart: facts.lateStart,
    lateEnd: facts.lateEnd,
    prompt: cut(turn.prompt, limits.promptCharacters),
    lastMessage: cut(facts.lastMessage, limits.promptCharacters),
    git: {
      headBefore: turn.headBefore,
      headAfter: turn.headAfter,
      branch: turn.branch,
      operation: facts.operation,
    },
    coverage: {
      complete: facts.incomplete === null,
      reason: facts.incomplete,
      files: known.files,
      ...countCoverage(entries, skipped, facts.missed),
    },
    overlaps: turn.kind === 'agent' || turn.kind === 'task' ? deps.captureLog.listOverlaps(turn) : [],
    skipped,
  }
}

const AGENT_CHARACTERS = 100

function describeAgent(name: string, { agentVersion, agentModel }: TurnFacts): TurnManifest['agent'] {
  const model = cut(agentModel, AGENT_CHARACTERS)
  const version = cut(agentVersion, AGENT_CHARACTERS)
  return { name: name.slice(0, AGENT_CHARACTERS), version, ...(model === null ? {} : { model }) }
}

/** What the tree holds and nobody captured, with what this turn found to be so. */
function listSkipped(skipped: readonly SkippedPath[], entries: readonly Entry[]): SkippedPath[] {
  const byPath = new Map(skipped.map((each) => [each.path, each]))
  for (const { path, after } of entries) {
    if (after.kind !== 'skipped' || isBelowSkipped(path, byPath)) continue
    byPath.set(path, {
      path,
      reason: after.reason,
      ...(after.sizeBytes === undefined ? {} : { sizeBytes: after.sizeBytes }),
    })
  }
  return [...byPath.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** A directory that is left out whole stands for all that lies below it. */
function isBelowSkipped(path: RelPath, skipped: ReadonlyMap<RelPath, SkippedPath>): boolean {
  for (let at = path; at !== ''; at = parentOf(at)) if (skipped.has(at)) return true
  return false
}

function cut(text: string | null, length: number): string | null {
  if (text === null || text.length <= length) return text
  // Not between the two halves of one character.
  return text
    .slice(0, length)
    .toWellFormed()
    .replace(/\ufffd$/u, '')
}
