import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from './client.ts'
import { appendLine, pick } from './edits.ts'
import { median, settleDisk } from './measure.ts'
import { HOW_TO_GET_RESTIC, Restic } from './peers.ts'
import type { Line } from './result.ts'
import type { Stage } from './stage.ts'

export interface RestoreRow {
  readonly row: string
  readonly work: string
  readonly goal: number
  /** Files that the turn had changed; all of them when null. */
  readonly count: number | null
  readonly restic: { readonly row: string; readonly goal: number } | null
  /** The preview of it against the restore itself. */
  readonly preview: { readonly row: string; readonly goal: number } | null
}

type Contender = 'resident' | 'git' | 'restic' | 'preview' | 'alone' | 'git-synced'

/** Below the rows and without a goal, of fewer rounds. */
const BESIDE: readonly Contender[] = ['alone', 'git-synced']
const ROUNDS_BESIDE = 3

/** One of those that take part, in its own turn: how it learns of the edits, and how it takes them back. */
interface Player {
  /** The tree is as it is to be again. */
  begin(): void
  end(): void
  goBack(files: readonly string[] | null): number
}

/** A turn appended a line to so many files, and now they are to be as they were. The present is saved first. */
export async function measureRestoreOf(stage: Stage, restore: RestoreRow): Promise<Line[]> {
  const { settings, corpus, root } = stage
  const isWanted = [restore.row, restore.restic?.row, restore.preview?.row].some(
    (row) => row !== undefined && settings.wants(row),
  )
  if (!isWanted) return []
  const resident = await stage.client('resident')
  if (typeof resident === 'string') return [{ row: restore.row, work: restore.work, cannot: resident }]
  const players = await findPlayers(stage, restore, resident)
  const wanted = new Map(corpus.files.map((file) => [file, hashOf(root, file)]))
  const taken = new Map<Contender, number[]>([...players.keys()].map((name) => [name, []]))
  for (let round = 0; round < settings.rounds; round++) {
    const names = [...players.keys()].filter((name) => round < ROUNDS_BESIDE || !BESIDE.includes(name))
    const files = restore.count === null ? null : pick(corpus.files, restore.count, round)
    for (let i = 0; i < names.length; i++) {
      const name = names[(i + round) % names.length] ?? 'git'
      const player = players.get(name)
      player?.begin()
      appendLine(root, files ?? corpus.files, `${restore.row}, round ${round}, ${name}`)
      player?.end()
      await resident.rest()
      settleDisk(root)
      taken.get(name)?.push(player?.goBack(files) ?? Number.NaN)
      const wrong = (files ?? corpus.files).find((file) => hashOf(root, file) !== wanted.get(file))
      if (wrong !== undefined) throw new Error(`${name} did not give ${wrong} back`)
    }
  }
  return toLines(restore, taken)
}

async function findPlayers(
  stage: Stage,
  { count, preview, restic }: RestoreRow,
  resident: Client,
): Promise<Map<Contender, Player>> {
  const { root, git, settings, corpus } = stage
  const files = count ?? corpus.files.length
  const players = new Map<Contender, Player>()
  const client = (client: Client, goBack: Player['goBack']): Player => ({
    begin: () => void client.begin(root),
    end: () => void client.end(root),
    goBack,
  })
  players.set(
    'resident',
    client(resident, () => restoreBy(resident, root, files)),
  )
  players.set('git', gitPlayer(stage, false))
  if (restic !== null && settings.hasRestic) players.set('restic', resticPlayer(stage))
  if (preview !== null)
    players.set(
      'preview',
      client(resident, () => {
        const { ms, stdout } = resident.run(root, 'preview', 'last', '--json')
        expectCount(stdout, 'restore', files)
        restoreBy(resident, root, files)
        return ms
      }),
    )
  const alone = await stage.client('alone')
  if (typeof alone !== 'string')
    players.set(
      'alone',
      client(alone, () => restoreBy(alone, root, files)),
    )
  players.set('git-synced', gitPlayer(stage, true))
  // What a player did in the row before is no change for git.
  git.commit()
  return players
}

function gitPlayer({ git }: Stage, isDurable: boolean): Player {
  return { begin: () => git.markBefore(), end: () => undefined, goBack: () => git.restore(isDurable).ms }
}

/** What it has is what every turn begins with. */
function resticPlayer({ root, settings }: Stage): Player {
  const restic = new Restic(root, join(settings.work, `restic-${crypto.randomUUID()}`))
  restic.backup()
  const nothing = () => undefined
  return { begin: nothing, end: nothing, goBack: (files) => restic.restore(files).ms }
}

function restoreBy(client: Client, root: string, count: number): number {
  const { ms, stdout } = client.run(root, 'restore', 'last', '--json')
  const report = expectCount(stdout, 'restored', count)
  if (Reflect.get(report, 'verified') !== true) throw new Error('what was written was not read back')
  return ms
}

function expectCount(stdout: string, list: string, count: number): object {
  const said: object = Object(JSON.parse(stdout))
  const found: unknown = Reflect.get(said, list)
  if (!Array.isArray(found) || found.length !== count)
    throw new Error(`not ${count} in ${list}: ${stdout.slice(0, 400)}`)
  return said
}

function hashOf(root: string, file: string): string {
  return createHash('sha256')
    .update(readFileSync(join(root, file)))
    .digest('base64')
}

function toLines({ row, work, goal, restic, preview }: RestoreRow, taken: Map<Contender, number[]>): Line[] {
  const of = (name: Contender) => taken.get(name) ?? []
  const samples = Object.fromEntries(taken)
  const line = (
    facts: { row: string; work: string; goal: number },
    ours: Contender,
    peer: Contender,
  ): Line => {
    if (of(peer).length === 0) return { ...facts, cannot: HOW_TO_GET_RESTIC }
    const quickest = { ours: Math.min(...of(ours)), peer: Math.min(...of(peer)) }
    const peerName = peer === 'resident' ? 'restore' : peer
    return {
      ...facts,
      unit: 'ms',
      ours: median(of(ours)),
      peer: median(of(peer)),
      peerName,
      quickest,
      samples,
    }
  }
  const notes = BESIDE.filter((name) => of(name).length > 0).map((name) => {
    const ms = median(of(name))
    return name === 'alone'
      ? `no resident: ${ms.toFixed(1)} ms, ${(ms / median(of('git'))).toFixed(3)} × git`
      : `git, and then sync: ${ms.toFixed(1)} ms, so ours is ${(median(of('resident')) / ms).toFixed(3)} × that`
  })
  const lines: Line[] = [{ ...line({ row, work, goal }, 'resident', 'git'), notes }]
  if (restic !== null) lines.push(line({ ...restic, work: `${work} / restic` }, 'resident', 'restic'))
  if (preview !== null)
    lines.push(line({ ...preview, work: 'the preview of it / the restore' }, 'preview', 'resident'))
  return lines
}
