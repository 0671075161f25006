import { createHash } from 'node:crypto'
import { existsSync, lstatSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type BlobId, type RelPath, type RestoreReport, type State, undoneMarks } from '@turnback/core'
import {
  applyEdit,
  type CommandOutcome,
  type HistoryOp,
  HistoryOracle,
  type MemoryTree,
  type RestoreOp,
  textFile,
} from '@turnback/core/testing'
import { gcParts } from '#cli/gc-parts.ts'
import type { Workspace } from '#ports.ts'
import { listRestoreFacts } from '#restore/facts.ts'
import { collectGarbage } from '#store/gc.ts'
import type { Bench } from './history-bench.ts'
import { outcomeOf, wordsFor } from './history-words.ts'
import { followModel, readModel, readPlaces } from './tree-of-states.ts'

/** What happens: the model's operations, time that passes with a gc at its end, and a restore that is taken back at once. */
export type RealOp =
  | HistoryOp
  | { readonly op: 'gc'; readonly minutes: number; readonly retentionDays: number }
  | { readonly op: 'take-back' }

const START: readonly (readonly [RelPath, State])[] = [
  ['a', textFile('0=0\n1=0\n2=0\n3=0\n4=0\n5=0\n')],
  ['d', { kind: 'dir', mode: 0o755 }],
  ['d/e', { kind: 'dir', mode: 0o755 }],
  ['d/e/z', textFile('0=2\n1=2\n2=2\n3=2\n4=2\n5=2\n', 0o755)],
  ['d/x', textFile('0=1\n1=1\n2=1\n3=1\n4=1\n5=1\n')],
  ['untouched', textFile('nobody ever writes here\n')],
]
const EXIT: Readonly<Record<string, number>> = {
  done: 0,
  'nothing-to-do': 0,
  failed: 1,
  refused: 3,
  'partly-done': 4,
}

/** The client did otherwise than the rules say. */
export class RuleBroken extends Error {}

interface OpenSession {
  hasEvents: boolean
  isStopped: boolean
}

/**
 * Plays one history twice: with the real client on a real tree, and by an oracle that keeps full copies and knows the
 * rules by heart. After each command both must have come to the same.
 */
export class RealHistory {
  readonly #bench: Bench
  readonly #root: string
  readonly #oracle = new HistoryOracle(START, () => false)
  readonly #open = new Map<number, OpenSession>()
  /** Every content that a file had when a command began, by path and SHA-256. */
  readonly #copies = new Map<string, { readonly path: RelPath; readonly bytes: Buffer }>()
  readonly #lines: Map<string, number>
  #isCut = false
  /** What the last restoring command found, if it made a turn. */
  #before: MemoryTree | null = null

  /** @param lines counts the kinds of lines that the reports had */
  constructor(bench: Bench, lines: Map<string, number>) {
    this.#bench = bench
    this.#root = bench.makeTree()
    this.#lines = lines
  }

  async play(ops: readonly RealOp[]): Promise<void> {
    followModel(this.#root, new Map(), this.#oracle.tree)
    await this.#run('init')
    for (const [i, op] of ops.entries()) {
      try {
        await this.#do(op)
      } catch (error) {
        if (error instanceof RuleBroken) error.message = `op ${i} ${JSON.stringify(op)}: ${error.message}`
        throw error
      }
    }
    await this.#do({ op: 'checkpoint', paths: null })
    this.#checkCopies()
  }

  get #workspace(): Workspace {
    const found = this.#bench.deps.log.listWorkspaces().find(({ root }) => root === this.#root)
    if (found === undefined) throw new RuleBroken('the workspace is not known')
    return found
  }

  async #run(...args: string[]): Promise<{ code: number; json: Record<string, unknown> }> {
    return this.#bench.run(this.#root, args)
  }

  async #expectRun(...args: string[]): Promise<void> {
    const { code, json } = await this.#run(...args)
    if (code !== 0) throw new RuleBroken(`${args.join(' ')}: exit ${code} ${JSON.stringify(json)}`)
  }

  async #do(op: RealOp): Promise<void> {
    switch (op.op) {
      case 'edit':
        return await this.#edit(op)
      case 'esc':
        return await this.#stop(op)
      case 'begin':
        await this.#showWork(op.session)
        this.#keepCopies()
        await this.#expectRun('begin', '--session', `s${op.session}`)
        this.#open.set(op.session, { hasEvents: false, isStopped: false })
        return this.#tell(op)
      case 'end':
        if (!this.#open.delete(op.session)) return
        this.#keepCopies()
        await this.#expectRun('end', '--session', `s${op.session}`)
        return this.#tell(op)
      case 'checkpoint':
        this.#keepCopies()
        await this.#expectRun('checkpoint', ...(op.paths ?? []))
        return this.#tell(op)
      case 'gc':
        return await this.#passTime(op)
      case 'take-back':
        return await this.#takeBack()
      case 'undo':
      case 'redo':
      case 'restore':
        return await this.#restore(op)
    }
  }

  #tell(op: HistoryOp): void {
    this.#oracle.apply(op)
    this.#compareMarks()
  }

  async #edit({ edit, tool }: Extract<HistoryOp, { op: 'edit' }>): Promise<void> {
    // Only its name tells the client of such a directory, and these have other names.
    if (edit.do === 'exclude') return
    const before = new Map(this.#oracle.tree)
    const after = new Map(before)
    applyEdit(after, edit)
    const isStoppedOne = [...this.#open.values()].some((open) => open.isStopped)
    if (isStoppedOne && !isInPlace(before, after)) return
    const session = tool === null ? undefined : this.#open.get(tool)
    const isTold = session !== undefined && !session.isStopped
    this.#oracle.apply({ op: 'edit', edit, tool: isTold ? tool : null })
    followModel(this.#root, before, this.#oracle.tree)
    if (!isTold) return
    session.hasEvents = true
    await this.#expectRun(
      ...['event', '--session', `s${tool}`, '--type', 'tool.after', '--tool', 'Edit', '--path', edit.path],
    )
  }

  /** The agent is heard of once more, and then never again; the clock of the disk goes on before anything else is done. */
  async #stop(op: Extract<HistoryOp, { op: 'esc' }>): Promise<void> {
    const open = this.#open.get(op.session)
    // A clock that was set forward says nothing of the times of files.
    if (open === undefined || open.isStopped || this.#bench.isAhead()) return
    await this.#sendNews(op.session)
    const heardMs = this.#bench.deps.clock.nowMs()
    do writeFileSync(this.#bench.probe, '')
    while (Math.floor(statSync(this.#bench.probe).ctimeMs) <= heardMs)
    open.isStopped = true
    this.#oracle.apply(op)
  }

  async #sendNews(session: number): Promise<void> {
    await this.#expectRun('event', '--session', `s${session}`, '--type', 'tool.after', '--tool', 'Edit')
  }

  /** An agent that was not stopped is at work up to the moment at which we close its turn. */
  async #showWork(session: number): Promise<void> {
    const open = this.#open.get(session)
    if (open?.hasEvents === true && !open.isStopped) await this.#sendNews(session)
  }

  async #passTime({ minutes, retentionDays }: Extract<RealOp, { op: 'gc' }>): Promise<void> {
    for (const session of [...this.#open.keys()]) await this.#do({ op: 'end', session })
    this.#bench.passMinutes(minutes)
    const limits = { retentionDays, retentionTurns: 1000, budgetBytes: 5e9 }
    const result = await collectGarbage(gcParts(this.#bench.deps, {}, { limits, coldMs: 0 }))
    if (result.turns > 0) this.#isCut = true
    this.#count('gc', result.turns)
  }

  async #takeBack(): Promise<void> {
    const before = this.#before
    if (before === null) return
    await this.#restore(TAKE_BACK)
    const left = firstUnequal(sorted(readModel(this.#root)), sorted(before))
    if (left !== null) throw new RuleBroken(`taking it back did not give back what was there: ${left}`)
    this.#count('taken back', 1)
  }

  async #restore(op: Extract<HistoryOp, { op: 'undo' | 'redo' | 'restore' }>): Promise<void> {
    this.#before = null
    for (const session of this.#open.keys()) await this.#showWork(session)
    const words = wordsFor(op, this.#oracle.turns, this.#open.size > 0)
    if (words === null) return
    if (op.op === 'restore' && !this.#turns().some(({ number }) => String(number) === words[1])) {
      const refused = errorOf((await this.#run(...words)).json)
      if (!this.#isCut || refused !== 'HISTORY_GAP') throw new RuleBroken(`turn ${words[1]}: ${refused}`)
      return this.#count('gap', 1)
    }
    this.#keepCopies()
    const before = readModel(this.#root)
    const places = readPlaces(this.#root, before)
    const { code, json } = await this.#run(...words)
    this.#open.clear()
    // What gc has taken is refused, after the look at the tree that every restoring command begins with.
    const isGap = this.#isCut && errorOf(json) === 'HISTORY_GAP'
    const wanted = this.#oracle.apply(isGap ? ONLY_LOOK : op)
    if (isGap) this.#count('gap', 1)
    else {
      const report = json as unknown as RestoreReport
      this.#compareOutcome(report, code, wanted)
      if (report.turn !== null) this.#before = before
    }
    const after = readModel(this.#root)
    const difference = firstUnequal(sorted(after), sorted(this.#oracle.tree))
    if (difference !== null)
      throw new RuleBroken(`tree: ${difference}\n${JSON.stringify(json)}\n${JSON.stringify(wanted)}`)
    this.#checkPlaces(before, after, places)
    this.#checkNothingIsLost(before, after)
    this.#compareMarks()
  }

  #compareOutcome(report: RestoreReport, code: number, wanted: CommandOutcome | null): void {
    if (!Array.isArray(report.restored)) throw new RuleBroken(`no report: ${JSON.stringify(report)}`)
    if (EXIT[report.status] !== code) throw new RuleBroken(`exit ${code} with status ${report.status}`)
    const numbers = new Map(this.#turns().map((row) => [row.turn, row.number]))
    const got = outcomeOf(report, (turn) => numbers.get(turn) ?? 0)
    for (const line of got.lines) this.#count(kindOf(line), 1)
    const isRun = report.status !== 'refused' && report.turn !== null
    if (isRun && !report.verified) throw new RuleBroken('it was not verified')
    const simple = (outcome: CommandOutcome | null) =>
      this.#isCut ? [outcome?.status === 'refused'] : [outcome?.status, ...(outcome?.lines ?? [])]
    const difference = firstUnequal(simple(got), simple(wanted))
    if (difference !== null) throw new RuleBroken(`report: ${difference}`)
  }

  #turns() {
    return this.#bench.deps.log.listTurns(this.#workspace.id)
  }

  #compareMarks(): void {
    const turns = this.#turns()
    const marks = undoneMarks(listRestoreFacts(this.#bench.deps, this.#workspace))
    const got = turns
      .filter((row) => row.kind === 'agent')
      .map((row) => [`t_${row.number}`, marks.get(row.turn) ?? 'no'])
    const known = new Set(got.map(([turn]) => turn))
    const wanted = this.#oracle.marks().filter(([turn]) => !this.#isCut || known.has(turn))
    const difference = firstUnequal(got, wanted)
    if (difference !== null) throw new RuleBroken(`marks: ${difference}`)
  }

  #count(kind: string, by: number): void {
    this.#lines.set(kind, (this.#lines.get(kind) ?? 0) + by)
  }

  // ---- what must hold whatever the rules say in detail

  #checkPlaces(before: MemoryTree, after: MemoryTree, places: ReadonlyMap<RelPath, string>): void {
    const now = readPlaces(this.#root, after)
    for (const [path, place] of places) {
      const [was, is] = [before.get(path), after.get(path)]
      if (was?.kind !== 'file' || is?.kind !== 'file' || was.blob !== is.blob) continue
      if (now.get(path) !== place) throw new RuleBroken(`${path} was written though it did not change`)
    }
    const left = readdirSync(this.#root, { recursive: true }).find((name) =>
      String(name).includes('.turnback-'),
    )
    if (left !== undefined) throw new RuleBroken(`${left} was left behind`)
  }

  /** Whatever is not there any more can be had from the store. */
  #checkNothingIsLost(before: MemoryTree, after: MemoryTree): void {
    for (const [path, was] of before) {
      const is = after.get(path)
      if (was.kind !== 'file' || (is?.kind === 'file' && is.blob === was.blob)) continue
      for (const copy of this.#copies.values()) if (copy.path === path) this.#checkCopy(copy)
    }
  }

  #keepCopies(): void {
    for (const [path, state] of this.#oracle.tree) {
      if (state.kind !== 'file' || !lstatSync(join(this.#root, path)).isFile()) continue
      const bytes = readFileSync(join(this.#root, path))
      this.#copies.set(`${path} ${shaOf(bytes)}`, { path, bytes })
    }
  }

  #checkCopies(): void {
    for (const copy of this.#copies.values()) this.#checkCopy(copy)
  }

  #checkCopy({ path, bytes }: { readonly path: RelPath; readonly bytes: Buffer }): void {
    // What gc removes is gone on purpose; of the rest it is tested elsewhere that it stays.
    if (this.#isCut) return
    const blob: BlobId = `p${shaOf(bytes)}`
    const { log, blobs } = this.#bench.deps
    const at = join(this.#root, path)
    if (existsSync(at) && lstatSync(at).isFile() && readFileSync(at).equals(bytes)) return
    const pushed = log.listRestoreEvents(this.#workspace.id).flatMap((event) => event.pushed)
    const states = [...log.listChanges(this.#workspace.id, [path]), ...pushed].flatMap(
      ({ before, after }) => [before, after],
    )
    const isNamed = states.some((state) => state.kind === 'file' && state.blob === blob)
    if (!isNamed) throw new RuleBroken(`a copy of ${path} stands in no entry of the log`)
    if (!blobs.has(blob) || !Buffer.from(blobs.read(blob)).equals(bytes))
      throw new RuleBroken(`a copy of ${path} can not be had again`)
  }
}

const TAKE_BACK: RestoreOp = {
  op: 'restore',
  back: 0,
  scope: 'from-turn',
  exact: false,
  onConflict: 'keep',
  paths: null,
}
/** A command that finds no turn: the tree is looked at, and open turns are closed, as before any other. */
const ONLY_LOOK: RestoreOp = { ...TAKE_BACK, back: Number.MAX_SAFE_INTEGER }

function isInPlace(before: MemoryTree, after: MemoryTree): boolean {
  const paths = [...new Set([...before.keys(), ...after.keys()])]
  return paths
    .filter((path) => JSON.stringify(before.get(path)) !== JSON.stringify(after.get(path)))
    .every((path) => before.get(path)?.kind === 'file' && after.get(path)?.kind === 'file')
}

function errorOf(json: Record<string, unknown>): string | null {
  const { error } = json
  return typeof error === 'object' && error !== null && 'code' in error && json.status === undefined
    ? String(error.code)
    : null
}

function kindOf(line: string): string {
  const [word = '', second = '', reason = ''] = line.split(' ')
  return word === 'kept' ? `kept ${reason}` : word === 'directory' ? `directory ${second}` : word
}

function firstUnequal(got: unknown, wanted: unknown): string | null {
  const [a, b] = [JSON.stringify(got), JSON.stringify(wanted)]
  return a === b ? null : `\n got    ${a}\n wanted ${b}`
}

function sorted(tree: ReadonlyMap<RelPath, State>): [RelPath, string][] {
  return [...tree]
    .map(([path, state]): [RelPath, string] => [path, JSON.stringify(Object.entries(state).sort())])
    .sort(([a], [b]) => (a < b ? -1 : 1))
}

const shaOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
