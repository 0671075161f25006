import type { Client, Manner } from './client.ts'
import { appendLine, pick } from './edits.ts'
import { median, settleDisk } from './measure.ts'
import type { Line, Result } from './result.ts'
import type { Stage } from './stage.ts'

interface TurnRow {
  readonly row: string
  readonly work: string
  readonly goal: number
  /** Files that are changed; all of them when null. */
  readonly count: number | null
  /** The row of the begin that comes after it, with nothing changed since. */
  readonly after: { readonly row: string; readonly work: string; readonly goal: number } | null
}

/** Milliseconds of one contender, round by round. */
interface Taken {
  readonly begin: number[]
  readonly end: number[]
  readonly after: number[]
}

/** The rows say what a resident client takes; the other manners stand below them, without a goal, of fewer rounds. */
const BESIDE: readonly Manner[] = ['stat-scan', 'alone']
const ROUNDS_BESIDE = 3

/** A whole turn: begin, edits, end. git takes a snapshot at both. */
export async function measureTurn(stage: Stage, turn: TurnRow): Promise<Line[]> {
  const { settings } = stage
  if (!settings.wants(turn.row) && !(turn.after !== null && settings.wants(turn.after.row))) return []
  const clients = new Map<string, Client>()
  let cannot: string | null = null
  for (const manner of ['resident', ...BESIDE] as const) {
    const client = await stage.client(manner)
    if (typeof client !== 'string') clients.set(manner, client)
    else if (manner === 'resident') cannot = client
  }
  const taken = new Map<string, Taken>()
  for (const name of ['git', ...clients.keys()]) taken.set(name, { begin: [], end: [], after: [] })
  for (let round = 0; round < settings.rounds; round++) await playRound(stage, turn, clients, taken, round)
  return toLines(turn, taken, cannot)
}

async function playRound(
  stage: Stage,
  turn: TurnRow,
  clients: ReadonlyMap<string, Client>,
  taken: ReadonlyMap<string, Taken>,
  round: number,
): Promise<void> {
  const { root, corpus } = stage
  const isBeside = (name: string) => BESIDE.some((manner) => manner === name)
  const names = [...taken.keys()].filter((name) => round < ROUNDS_BESIDE || !isBeside(name))
  const inTurn = async (part: keyof Taken, work: (client: Client) => { readonly ms: number }) => {
    for (let i = 0; i < names.length; i++) {
      const name = names[(i + round) % names.length] ?? ''
      for (const each of clients.values()) await each.rest()
      settleDisk(root)
      const client = clients.get(name)
      taken.get(name)?.[part].push((client === undefined ? stage.git.snapshot() : work(client)).ms)
    }
  }
  // The index knows what came before, so that git has only this turn's changes to look at.
  stage.git.commit()
  await inTurn('begin', (client) => client.begin(root))
  const files = turn.count === null ? corpus.files : pick(corpus.files, turn.count, round)
  appendLine(root, files, `${turn.row}, round ${round}`)
  await inTurn('end', (client) => client.end(root))
  if (turn.after === null) return
  await inTurn('after', (client) => client.begin(root))
  for (const name of names) clients.get(name)?.end(root)
}

function toLines(turn: TurnRow, taken: ReadonlyMap<string, Taken>, cannot: string | null): Line[] {
  const whole = (name: string) => {
    const of = taken.get(name)
    return of?.begin.map((ms, i) => ms + (of.end[i] ?? 0)) ?? []
  }
  const after = (name: string) => taken.get(name)?.after ?? []
  const line = (row: TurnRow | NonNullable<TurnRow['after']>, of: (name: string) => number[]): Line => {
    const notes = BESIDE.filter((name) => taken.has(name)).map((name) => {
      const ms = median(of(name))
      return `${name}: ${ms.toFixed(1)} ms, ${(ms / median(of('git'))).toFixed(3)} ×`
    })
    if (cannot !== null) return { row: row.row, work: row.work, cannot: [cannot, ...notes].join('; ') }
    const result: Result = {
      ...{ row: row.row, work: row.work, goal: row.goal, unit: 'ms', peerName: 'git' },
      ours: median(of('resident')),
      peer: median(of('git')),
      quickest: { ours: Math.min(...of('resident')), peer: Math.min(...of('git')) },
      notes,
      samples: Object.fromEntries([...taken.keys()].map((name) => [name, of(name)])),
    }
    return result
  }
  return [line(turn, whole), ...(turn.after === null ? [] : [line(turn.after, after)])]
}
