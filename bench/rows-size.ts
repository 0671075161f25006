import { join } from 'node:path'
import { appendLine, indentAgain } from './edits.ts'
import { settleDisk } from './measure.ts'
import { HOW_TO_GET_RESTIC, Restic } from './peers.ts'
import type { Line, Result } from './result.ts'
import type { Stage } from './stage.ts'

/** What lies on the disk at one moment, on every side. */
interface Moment {
  readonly packs: number
  readonly log: number
  readonly git: number
  readonly restic: number | null
}

export const SIZE_ROWS = ['store-first', 'store-compacted', 'growth-append', 'growth-indent'] as const

/** Bytes after the first capture and after two changes of every file, by us, git after `git gc`, and restic. */
export function measureSizes(stage: Stage): Line[] {
  const { settings, corpus, root, git } = stage
  const client = stage.newClient('alone', join(settings.work, 'home-sizes'))
  const restic = settings.hasRestic ? new Restic(root, join(settings.work, 'restic-sizes')) : null
  const take = (): Moment => ({
    packs: client.packs().bytes,
    log: client.logAndIndex().bytes,
    git: git.objects().bytes,
    restic: restic?.size().bytes ?? null,
  })
  // The tree is a repository with one commit already: loose objects only.
  const turn = (edit: () => void) => {
    client.begin(root)
    edit()
    client.end(root)
    restic?.backup()
    git.commit()
  }
  turn(() => undefined)
  const loose = take()
  const looseDisk = git.objects().diskBytes
  const tidy = () => {
    git.gc()
    const { trouble } = JSON.parse(client.run(root, 'gc', '--compact', '--json').stdout)
    if (trouble !== null) throw new Error(`gc left something undone: ${trouble}`)
    settleDisk(root)
    return take()
  }
  /** What a turn adds: by us at once and after gc, by git after gc. */
  const grow = (edit: () => void): Growth => {
    const before = tidy()
    turn(edit)
    const atOnce = take()
    return { before, atOnce, after: tidy() }
  }
  const base = tidy()
  const appended = grow(() => appendLine(root, corpus.files, 'one more line'))
  const indented = grow(() => indentAgain(root, corpus.files))
  const lines: Line[] = [
    sized('store-first', 'store after first capture', 0.85, loose, 'git loose', loose.git, [
      `git's loose objects take ${(looseDisk / 1e6).toFixed(1)} MB in whole blocks`,
    ]),
    sized('store-compacted', 'store after compaction', 1.1, base, 'git gc', base.git, []),
    grown('growth-append', 'one line appended to each file: growth', 0.25, appended, 'git gc'),
    restic === null
      ? { row: 'growth-indent', work: 're-indent of all files: growth', cannot: HOW_TO_GET_RESTIC }
      : grown('growth-indent', 're-indent of all files: growth', 0.6, indented, 'restic'),
  ]
  return lines.filter(({ row }) => settings.wants(row))
}

interface Growth {
  readonly before: Moment
  readonly atOnce: Moment
  readonly after: Moment
}

function sized(
  row: string,
  work: string,
  goal: number,
  at: Moment,
  peerName: string,
  peer: number,
  notes: readonly string[],
): Result {
  const ours = at.packs + at.log
  const parts = inParts(at.packs, at.log, peer, goal)
  return { row, work, unit: 'bytes', ours, peer, peerName, goal, notes: [parts, ...notes] }
}

function grown(
  row: string,
  work: string,
  goal: number,
  { before, atOnce, after }: Growth,
  peerName: 'git gc' | 'restic',
): Result {
  const packs = atOnce.packs - before.packs
  const log = atOnce.log - before.log
  const gitGrowth = after.git - before.git
  const resticGrowth = (after.restic ?? 0) - (before.restic ?? 0)
  const peer = peerName === 'git gc' ? gitGrowth : resticGrowth
  const others = `git gc's growth ${mb(gitGrowth)}, restic's ${after.restic === null ? 'not measured' : mb(resticGrowth)}`
  const settled = inParts(after.packs - before.packs, after.log - before.log, peer, goal)
  return {
    ...{ row, work, unit: 'bytes', ours: packs + log, peer, peerName, goal },
    notes: [inParts(packs, log, peer, goal), `after our gc: ${settled}`, others],
  }
}

/** Contents and everything else are told apart: git keeps no record of who changed what, and its trees are in its packs. */
export function inParts(packs: number, log: number, peer: number, goal: number): string {
  const part = (bytes: number) => `${mb(bytes)} (${(bytes / peer).toFixed(3)} ×)`
  const alone =
    packs <= goal * peer && packs + log > goal * peer ? '; contents alone are within the goal' : ''
  return `packs ${part(packs)}, log and index ${part(log)}${alone}`
}

function mb(bytes: number): string {
  return `${(bytes / 1e6).toFixed(3)} MB`
}
