import type { Change, RestoreEvent } from '#history/change.ts'
import { findNextRedo, findNextUndo, type UndoneMark, undoneMarks } from '#history/marks.ts'
import { liveStacks } from '#history/stack.ts'
import { isWork, type RestoreFacts, type TurnFacts } from '#history/turn-facts.ts'
import type { TurnId } from '#ids.ts'
import { isWithin, type RelPath } from '#path/rel-path.ts'
import type { PlanContent } from '#restore/decision.ts'
import { ALL_DONE, settleRestore } from '#restore/outcome.ts'
import { type PlanOptions, planRestore } from '#restore/plan.ts'
import type { RestorePlan } from '#restore/restore-plan.ts'
import { byteString, bytesOf } from '#text/lines.ts'
import { diffTrees, type TreeChange } from '#tree/diff.ts'
import { nothingToRecord } from '#tree/state.ts'
import { hidesChildren } from '#tree/tree.ts'
import type { HistoryOp } from './history-ops.ts'
import { applyEdit, type MemoryTree, stateAt, textOf, writeState } from './memory-tree.ts'

/** The log as a planner reads it. */
export interface WorkspaceLog {
  readonly changes: readonly Change[]
  readonly events: readonly RestoreEvent[]
}

/** What a restoring command came to, in a form that two implementations can be compared by. */
export interface CommandOutcome {
  readonly status: string
  readonly lines: readonly string[]
}

/** What the workspace does at each point where a wrong design would do something else. */
export interface WorkspaceDesign {
  /** How the log is read before a plan is made of it. */
  readLog(log: WorkspaceLog, workspace: CoreWorkspace): WorkspaceLog
  /** Whether the store still has a blob. */
  hasBlob(blob: string): boolean
}

export const RIGHT_DESIGN: WorkspaceDesign = { readLog: (log) => log, hasBlob: () => true }

interface OpenTurn {
  readonly turn: TurnId
  readonly session: number
  readonly named: Set<RelPath>
  /** Paths edited since the person stopped the agent; null while it is at work. */
  late: Set<RelPath> | null
}

/**
 * A whole machine in memory around the rules of core: it scans, keeps a log, plans, carries out and records.
 * For tests that drive long histories.
 */
export class CoreWorkspace {
  readonly tree: MemoryTree = new Map()
  readonly changes: Change[] = []
  readonly events: RestoreEvent[] = []
  readonly turns: TurnFacts[] = []
  readonly restores: RestoreFacts[] = []
  readonly plans: RestorePlan[] = []
  readonly #design: WorkspaceDesign
  readonly #content: PlanContent
  #open: OpenTurn[] = []
  #known: MemoryTree = new Map()
  #scans = 0
  readonly #hidden = new Set<RelPath>()

  constructor(start: Iterable<readonly [RelPath, Parameters<MemoryTree['set']>[1]]>, design = RIGHT_DESIGN) {
    for (const [path, state] of start) this.tree.set(path, state)
    this.#known = new Map(this.tree)
    this.#design = design
    this.#content = {
      hasBlob: (blob) => design.hasBlob(blob),
      readText: (blob) => (design.hasBlob(blob) ? bytesOf(textOf(blob)) : null),
      nameText: (_, bytes) => `p${byteString(bytes)}`,
      sha256: (bytes) => byteString(bytes),
    }
  }

  /** Does one thing. Restoring commands give what they came to, all others null. */
  apply(op: HistoryOp): CommandOutcome | null {
    switch (op.op) {
      case 'begin':
        this.#begin(op.session)
        return null
      case 'end':
        this.#end(op.session, false)
        return null
      case 'esc':
        for (const turn of this.#open) if (turn.session === op.session) turn.late ??= new Set()
        return null
      case 'edit':
        this.#edit(op)
        return null
      case 'checkpoint':
        this.#scan(false)
        this.#addTurn('checkpoint', null, op.paths)
        return null
      case 'undo': {
        this.#captureAndClose()
        const session = op.session === null ? null : sessionName(op.session)
        const target = findNextUndo(this.turns, this.restores, session)
        if (target === null) return NOTHING
        return this.#restore({
          target,
          scope: 'from-turn',
          exact: false,
          onConflict: op.onConflict,
          paths: null,
          hunks: null,
        })
      }
      case 'redo': {
        this.#captureAndClose()
        const target = findNextRedo(this.turns, this.restores)
        if (target === null) return NOTHING
        return this.#restore({
          target,
          scope: 'from-turn',
          exact: false,
          onConflict: 'keep',
          paths: null,
          hunks: null,
        })
      }
      case 'restore': {
        this.#captureAndClose()
        const restorable = this.turns.filter((turn) => turn.kind !== 'outside')
        const target = restorable.at(-1 - op.back)?.turn
        if (target === undefined) return NOTHING
        return this.#restore({ ...op, target, hunks: null })
      }
    }
  }

  marks(): [TurnId, UndoneMark][] {
    const marks = undoneMarks(this.restores)
    return this.turns
      .filter((turn) => isWork(turn.kind))
      .map((turn) => [turn.turn, marks.get(turn.turn) ?? 'no'])
  }

  /** True when the path ever lay below a directory that no scan could see into. */
  wasHidden(path: RelPath): boolean {
    return [...this.#hidden].some((folder) => path.startsWith(`${folder}/`))
  }

  /** Per path the scans of its live changes. */
  live(): Map<RelPath, number[]> {
    const stacks = liveStacks(this.changes, this.events)
    return new Map([...stacks].map(([path, stack]) => [path, stack.map((change) => change.scan)]))
  }

  #edit({ edit, tool }: Extract<HistoryOp, { op: 'edit' }>): void {
    const before = new Map(this.tree)
    applyEdit(this.tree, edit)
    const changed = diffTrees(before, this.tree).map((change) => change.path)
    for (const turn of this.#open) {
      if (turn.session === tool) turn.named.add(edit.path)
      for (const path of changed) turn.late?.add(path)
    }
  }

  #begin(session: number): void {
    this.#end(session, true)
    this.#scan(false)
    const turn = this.#addTurn('agent', sessionName(session), null)
    this.#open.push({ turn, session, named: new Set(), late: null })
  }

  #end(session: number, isByUs: boolean): void {
    if (!this.#open.some((turn) => turn.session === session)) return
    this.#scan(isByUs && session)
    this.#open = this.#open.filter((turn) => turn.session !== session)
  }

  #captureAndClose(): void {
    this.#scan(true)
    this.#open = []
  }

  #addTurn(kind: TurnFacts['kind'], session: string | null, paths: TurnFacts['paths']): TurnId {
    const number = this.turns.length + 1
    const turn: TurnId = `t_${number}`
    this.turns.push({ turn, number, kind, session, beginScan: this.#scans, hasChanges: false, paths })
    return turn
  }

  /** @param closing the session, or all of them, whose turn this look closes without an end of its own */
  #scan(closing: number | boolean): void {
    this.#scans++
    const found = diffTrees(this.#known, this.tree)
    for (const [path, state] of this.tree) if (hidesChildren(state)) this.#hidden.add(path)
    this.#known = new Map(this.tree)
    let outside: TurnId | null = null
    for (const change of found) {
      const owners = this.#ownersOf(change, closing)
      if (owners.length === 0) outside ??= this.#addTurn('outside', null, null)
      this.#push(change, owners.length === 0 && outside !== null ? [outside] : owners)
    }
    for (const turn of this.#open) turn.named.clear()
  }

  /** The open turns that a change belongs to: the only one, the one whose tool named the path, or all. */
  #ownersOf({ path, before, after }: TreeChange, closing: number | boolean): TurnId[] {
    const isFolder = (before.kind === 'dir') !== (after.kind === 'dir')
    const isNamed = (name: RelPath): boolean => isWithin(path, name) || (isFolder && isWithin(name, path))
    const named = this.#open.filter((turn) => [...turn.named].some(isNamed))
    const isOver = (turn: OpenTurn): boolean => closing === true || closing === turn.session
    const able = this.#open.filter((turn) => !(isOver(turn) && turn.late?.has(path)))
    return (named.length > 0 ? named : able).map((turn) => turn.turn)
  }

  #push({ path, before, after }: TreeChange, owners: readonly TurnId[]): void {
    const facts = this.turns.find((item) => item.turn === owners[0])
    if (facts === undefined) throw new Error('a change without a turn')
    const isShared = owners.length > 1
    this.changes.push({
      path,
      scan: this.#scans,
      turn: facts.turn,
      kind: facts.kind,
      session: isShared ? null : facts.session,
      source: isShared ? 'shared' : facts.kind === 'outside' ? 'outside' : 'unknown',
      sharedBy: isShared ? owners : [],
      before,
      after,
    })
    for (const owner of owners) this.#noteChange(owner)
  }

  #noteChange(turn: TurnId): void {
    const at = this.turns.findIndex((item) => item.turn === turn)
    const facts = this.turns[at]
    if (facts !== undefined) this.turns[at] = { ...facts, hasChanges: true }
  }

  #restore(request: PlanOptions): CommandOutcome {
    const log = this.#design.readLog({ changes: this.changes, events: this.events }, this)
    const { turns, restores } = this
    const plan = planRestore({ request, ...log, turns, restores, tree: this.#known, content: this.#content })
    this.plans.push(plan)
    if (plan.refusal !== null) return { status: 'refused', lines: plan.conflicts.map((item) => item.path) }
    for (const step of plan.steps) {
      if (!nothingToRecord(stateAt(this.tree, step.path), step.from))
        throw new Error(`${step.path} is not as planned`)
      writeState(this.tree, step.path, step.to)
    }
    const settled = settleRestore(plan, ALL_DONE, undoneMarks(restores))
    const turn = this.#addTurn('restore', null, null)
    this.#scans++
    this.events.push({ turn, scan: this.#scans, ...settled.stack })
    this.restores.push({
      turn,
      number: this.turns.length,
      target: request.target,
      takenBack: plan.takenBack,
      of: settled.of,
      isWhole: plan.paths === null,
      status: settled.status,
    })
    this.#known = new Map(this.tree)
    return { status: settled.status, lines: linesOf(settled.lists, settled.of) }
  }
}

const NOTHING: CommandOutcome = { status: 'nothing-to-do', lines: [] }

function sessionName(session: number): string {
  return `s${session}`
}

function linesOf(lists: ReturnType<typeof settleRestore>['lists'], of: readonly TurnId[]): string[] {
  return [
    ...lists.restored.map((path) => `restored ${path}`),
    ...lists.deleted.map((path) => `deleted ${path}`),
    ...lists.merged.map((path) => `merged ${path}`),
    ...lists.kept.map((item) => `kept ${item.path} ${item.reason} ${item.turn ?? ''}`),
    ...lists.skipped.map((item) => `skipped ${item.path} ${item.reason}`),
    ...lists.directories.restored.map((path) => `directory restored ${path}`),
    ...lists.directories.deleted.map((path) => `directory deleted ${path}`),
    ...lists.directories.kept.map((path) => `directory kept ${path}`),
    ...lists.alsoUndone.map((item) => `also undone ${item.path} ${item.turn}`),
    ...of.map((turn) => `of ${turn}`),
    `unchanged ${lists.unchanged}`,
  ].sort()
}
