import type { BlobId } from '#blob/blob-id.ts'
import type { ConflictChoice } from '#command/messages.ts'
import { DomainError } from '#errors.ts'
import type { Change, RestoreEvent } from '#history/change.ts'
import type { Gap } from '#history/gap.ts'
import { newlyMarked, undoneMarks } from '#history/marks.ts'
import { type ResolvedScope, resolveScope } from '#history/scope.ts'
import { changesOfRestore, type LiveStacks, liveStacks } from '#history/stack.ts'
import { isWork, type RestoreFacts, type TurnFacts } from '#history/turn-facts.ts'
import type { TurnId } from '#ids.ts'
import type { Scope } from '#manifest/manifest.ts'
import { isWithin, nameOf, type RelPath } from '#path/rel-path.ts'
import { findPathFault, isGitDisguise } from '#path/validate.ts'
import { ABSENT, type State } from '#tree/state.ts'
import { stateIn, type Tree } from '#tree/tree.ts'
import { assemblePlan } from './assemble.ts'
import { joinStacks, lookBeyond, notFound, withoutRemoved } from './beyond-gap.ts'
import { keepTwinsApart } from './case-twins.ts'
import { decidePath } from './conflict.ts'
import type { Decision, PlanContent, Write } from './decision.ts'
import { decideHunks } from './hunk-decision.ts'
import { type PathLoss, type RestorePlan, turnsThatLose } from './restore-plan.ts'
import { keepSetsTogether, type SetFacts, withWholeSets } from './sqlite-sets.ts'
import { fitTogether, keepInstead, keepNewRepositories } from './surroundings.ts'
import { decideTakeBack } from './take-back.ts'

export interface PlanOptions {
  readonly target: TurnId
  readonly scope: Scope
  readonly exact: boolean
  readonly onConflict: ConflictChoice
  /** Null for all paths. A folder means all below it. */
  readonly paths: readonly RelPath[] | null
  /** Null for whole files. Else only these hunks of the target's own change are reverted. */
  readonly hunks: readonly { readonly path: RelPath; readonly id: string }[] | null
}

export interface PlanInput {
  readonly request: PlanOptions
  /** Every change of the workspace up to and with the capture that the restore began with. */
  readonly changes: readonly Change[]
  readonly events: readonly RestoreEvent[]
  readonly turns: readonly TurnFacts[]
  readonly restores: readonly RestoreFacts[]
  /** The tree as that capture saw it. */
  readonly tree: Tree
  readonly content: PlanContent
  /** True when names that differ in letter case only are one name on the disk. */
  readonly ignoresCase?: boolean
  /** What retention has removed from the beginning of the log; not given when nothing was. */
  readonly gap?: Gap
}

/**
 * Plans a restore of a turn, a checkpoint or (taking it back) a restore: contract rules 4 to 8. Pure: the same
 * input gives the same plan.
 * @throws DomainError TURN_NOT_FOUND, NOT_RESTORABLE; HISTORY_GAP when what it needs was removed by retention; for
 *   hunks PATH_NOT_FOUND, VALIDATION_FAILED
 */
export function planRestore(given: PlanInput): RestorePlan {
  const { turns, tree, ignoresCase = false } = given
  const content = rememberNamed(given.content)
  const stacks = liveStacks(given.changes, given.events)
  const request = narrow(given.request, { stacks, tree, content })
  const input = { ...given, request, content }
  const target = turns.find((turn) => turn.turn === request.target)
  if (target === undefined) throw notFound(request.target, input.gap)
  if (request.hunks !== null && !isWork(target.kind)) throw noHunks(target)
  if (target.kind === 'restore') {
    const decisions = finish(takeBack(input, stacks), input, stacks)
    return assemblePlan(request, decisions, {
      takenBack: target.turn,
      turns: [],
      undoes: [],
      losses: null,
      paths: request.paths,
      ignoresCase,
    })
  }
  const beyond = input.gap === undefined ? null : lookBeyond(input.gap, target, request, turns)
  const scope = resolveScope(beyond === null ? turns : [...turns, ...beyond.turns], request)
  const paths = limitOf(request, scope)
  const whole = beyond === null ? stacks : joinStacks(stacks, beyond.listing)
  const decided =
    request.hunks === null ? decideStacks(whole, scope, input) : decideAllHunks(request.hunks, target, input)
  const fitting = finish(decided, input, whole)
  const decisions = beyond === null ? fitting : takeOnlyWhatIsThere(fitting, stacks, input)
  const losses = paths === null ? null : listLosses(fitting, whole, request)
  const covered = losses === null ? scope.turns : turnsThatLose(scope.turns, losses)
  const undoes = newlyMarked(covered, undoneMarks(input.restores), paths === null, 'done')
  const head = { takenBack: null, turns: scope.turns, undoes, losses, paths, ignoresCase }
  return assemblePlan(request, decisions, head)
}

/** A hunk is one turn's own: whatever scope was said, the later turns lose nothing. A database is named whole. */
function narrow(request: PlanOptions, facts: SetFacts): PlanOptions {
  const paths = request.paths === null ? null : withWholeSets(request.paths, facts)
  return request.hunks === null ? { ...request, paths } : { ...request, paths, scope: 'turn' }
}

function noHunks({ turn, kind }: TurnFacts): DomainError {
  const message = `Hunks are taken back from what an agent or a task did; this is a turn of kind ${kind}.`
  return new DomainError('VALIDATION_FAILED', { turn, kind }, { message })
}

/** Of a plan that is limited to some paths: who loses something by which of them. */
function listLosses(
  decisions: readonly Decision[],
  stacks: LiveStacks,
  { hunks, target }: PlanOptions,
): PathLoss[] {
  return decisions.flatMap((decision) => {
    if (decision.act !== 'write' && decision.act !== 'settle') return []
    const { path, act, effect } = decision
    const scans = new Set(effect.popped.map((ref) => ref.scan))
    const popped = (stacks.get(path) ?? []).filter((change) => scans.has(change.scan))
    const turns = new Set(popped.flatMap((change) => [change.turn, ...change.sharedBy]))
    if (act === 'write' && hunks !== null) turns.add(target)
    return turns.size === 0 ? [] : [{ path, turns: [...turns].sort() }]
  })
}

/** Bytes that the plan itself made count as present, also in a preview that stores nothing. */
function rememberNamed(content: PlanContent): PlanContent {
  const named = new Set<BlobId>()
  return {
    hasBlob: (blob) => named.has(blob) || content.hasBlob(blob),
    readText: (blob) => content.readText(blob),
    nameText: (path, bytes) => {
      const blob = content.nameText(path, bytes)
      named.add(blob)
      return blob
    },
    sha256: content.sha256,
  }
}

/** Of decisions about stacks that reach beyond the gap: what of them can be done to those in the log. */
function takeOnlyWhatIsThere(decisions: readonly Decision[], live: LiveStacks, input: PlanInput): Decision[] {
  const bases = basesOfPopped(input)
  return decisions.map((decision) => {
    const { path } = decision
    const stack = live.get(path) ?? []
    const base = bases.get(path) ?? stack[0]?.before ?? stateIn(input.tree, path)
    return withoutRemoved(decision, stack, base, input.gap?.scan ?? 0)
  })
}

function decideStacks(stacks: LiveStacks, scope: ResolvedScope, input: PlanInput): Decision[] {
  const { request, tree, content } = input
  const bases = basesOfPopped(input)
  const decisions: Decision[] = []
  for (const [path, stack] of stacks) {
    // A new repository protects what is in it also when only a part of it was named.
    if (!isNamed(path, request.paths) && !isGitDisguise(nameOf(path))) continue
    const base = bases.get(path) ?? stack[0]?.before ?? ABSENT
    const history = { stack, present: stateIn(tree, path), base }
    const decision = decidePath(history, scope, request.onConflict, content)
    if (decision !== null) decisions.push(decision)
  }
  return decisions
}

/** What the paths were before any change in the log, for those from which a restore ever took one off. */
function basesOfPopped({ changes, events }: PlanInput): Map<RelPath, State> {
  const popped = new Set(events.flatMap((event) => event.popped.map((ref) => ref.path)))
  const oldest = new Map<RelPath, Change>()
  for (const change of changes) {
    if (!popped.has(change.path) || change.kind === 'restore') continue
    const known = oldest.get(change.path)
    if (known === undefined || change.scan < known.scan) oldest.set(change.path, change)
  }
  return new Map([...oldest].map(([path, change]) => [path, change.before]))
}

function decideAllHunks(
  hunks: NonNullable<PlanOptions['hunks']>,
  target: TurnFacts,
  input: PlanInput,
): Decision[] {
  const byPath = new Map<RelPath, string[]>()
  for (const { path, id } of hunks) byPath.set(path, [...(byPath.get(path) ?? []), id])
  return [...byPath].map(([path, ids]) =>
    decideHunks(path, ids, target, input.changes, stateIn(input.tree, path), input.content),
  )
}

function takeBack(input: PlanInput, now: LiveStacks): Decision[] {
  const { target } = input.request
  const event = input.events.find((item) => item.turn === target)
  // A pinned restore whose event is gone lies before the gap.
  if (event === undefined)
    throw new DomainError(input.gap === undefined ? 'TURN_NOT_FOUND' : 'HISTORY_GAP', { turn: target })
  const touched = new Set<RelPath>(
    [...event.popped, ...event.putBack, ...event.pushed].map((item) => item.path),
  )
  const changes = input.changes.filter((change) => touched.has(change.path))
  const known = new Map<string, Change>()
  for (const change of [...changes, ...input.events.flatMap(changesOfRestore)]) {
    known.set(`${change.scan} ${change.path}`, change)
  }
  const isGone = (ref: { readonly path: RelPath; readonly scan: number }): boolean =>
    input.gap !== undefined && ref.scan <= input.gap.scan && isNamed(ref.path, input.request.paths)
  if ([...event.popped, ...event.putBack].some(isGone)) throw new DomainError('HISTORY_GAP', { turn: target })
  return decideTakeBack({
    event,
    now,
    then: liveStacks(changes, input.events, event.scan),
    findChange: (path, scan) => known.get(`${scan} ${path}`) ?? null,
    present: (path) => stateIn(input.tree, path),
    session: findSession(input, target),
  })
}

/** The session of the turn that a restore, or the restore it took back, was asked for. */
function findSession({ turns, restores, gap }: PlanInput, restore: TurnId): string | null {
  let at: TurnId = restore
  for (let next = restores.find((item) => item.turn === at); next !== undefined; ) {
    at = next.target
    next = restores.find((item) => item.turn === at)
  }
  return [...turns, ...(gap?.turns ?? [])].find((turn) => turn.turn === at)?.session ?? null
}

/** What holds for every restore, whatever it undoes: what cannot be written safely is kept. */
function finish(decisions: readonly Decision[], input: PlanInput, stacks: LiveStacks): Decision[] {
  const { request, tree, content } = input
  const named = keepNewRepositories(decisions).filter((decision) => isNamed(decision.path, request.paths))
  const safe = named.map((decision): Decision => {
    if (decision.act !== 'write') return decision
    if (findPathFault(decision.path, 'posix') !== null) return keepInstead(decision, 'outside-workspace')
    if (decision.to.kind === 'file' && !content.hasBlob(decision.to.blob))
      return keepInstead(decision, 'missing-blob')
    // What is there now goes only if it could be had again: an index that promises it is not enough.
    const taken = bytesTaken(decision)
    if (taken !== null && !content.hasBlob(taken)) return keepInstead(decision, 'missing-blob')
    return decision
  })
  const fitting = fitTogether(keepSetsTogether(safe, { stacks, tree, content }), tree, stacks)
  return input.ignoresCase === true ? keepTwinsApart(fitting, tree) : fitting
}

/** The bytes that are there now and will not be any more, or null. */
function bytesTaken({ from, to }: Write): BlobId | null {
  if (from.kind !== 'file' || (to.kind === 'file' && to.blob === from.blob)) return null
  return from.blob
}

function isNamed(path: RelPath, paths: readonly RelPath[] | null): boolean {
  return paths === null || paths.some((folder) => isWithin(path, folder))
}

/** The paths that the plan is limited to, or null when it covers all that its scope changed. */
function limitOf(request: PlanOptions, scope: ResolvedScope): readonly RelPath[] | null {
  if (request.hunks !== null) return [...new Set(request.hunks.map((hunk) => hunk.path))].sort()
  return request.paths ?? scope.paths
}
