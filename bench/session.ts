import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { arch, cpus, loadavg, platform, release, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { chooseSources, FULL, SMALL } from './corpus.ts'
import { median, run } from './measure.ts'
import { findRestic, HOW_TO_GET_RESTIC } from './peers.ts'
import { formatLine, isReached, type Line, ratioOf } from './result.ts'
import type { Settings } from './stage.ts'

export interface BenchOptions {
  /** Names of rows, or how they begin; null for all. */
  readonly rows: readonly string[] | null
  readonly rounds: number
  readonly isQuick: boolean
  readonly corpus: 'small' | 'full' | '10x'
}

/** Copies in the big tree. */
export const TEN = 10

export interface Benched {
  /** False when something broke, whatever was slow. */
  readonly isWhole: boolean
  /** Everything, for the file. */
  readonly measured: object
}

/** Measures one group of rows and prints them at once: a full run takes minutes. */
export type Take = (name: string, measure: () => readonly Line[] | Promise<readonly Line[]>) => Promise<void>

/** Measures rows beside their peers in one run, and prints a table. */
export async function bench(
  options: BenchOptions,
  say: (text: string) => void,
  measureRows: (settings: Settings, take: Take) => Promise<void>,
): Promise<Benched> {
  const checkout = join(import.meta.dirname, '..')
  const work = realpathSync(mkdtempSync(join(tmpdir(), 'turnback-bench-')))
  const remove = () => rmSync(work, { recursive: true, force: true })
  process.once('exit', remove)
  // What `pnpm install` does too: without it each start loads some three hundred files.
  run({
    argv: [process.execPath, 'scripts/build-client.ts'],
    cwd: checkout,
    env: { PATH: process.env.PATH ?? '' },
  })
  const size = options.corpus === 'small' ? SMALL : FULL
  const restic = findRestic()
  if (restic === null) say(HOW_TO_GET_RESTIC)
  const machine = describeMachine(checkout, restic?.version ?? null)
  const scale = measureScale(work)
  say(
    `for scale: ${Object.entries(scale)
      .map(([name, ms]) => `${name} ${ms.toFixed(1)} ms`)
      .join(', ')}`,
  )
  const lines: Line[] = []
  const settings: Settings = {
    ...{ checkout, work, rounds: options.rounds, isQuick: options.isQuick },
    ...{ ignored: size.ignored, copies: options.corpus === '10x' ? TEN : 1, hasRestic: restic !== null },
    chosen: chooseSources(checkout, size),
    say,
    wants: (row) => options.rows === null || options.rows.some((wanted) => row.startsWith(wanted)),
  }
  const take: Take = async (name, measure) => {
    const made = await measureOrSay(name, measure)
    for (const line of made) say(formatLine(line))
    lines.push(...made)
  }
  try {
    await measureRows(settings, take)
  } finally {
    remove()
    process.off('exit', remove)
  }
  const missed = lines.filter((line) => !('cannot' in line) && !isReached(line)).map(({ row }) => row)
  const notRun = lines.filter((line) => 'cannot' in line).map(({ row }) => row)
  say(`\nmissed: ${missed.join(', ') || 'none'}\nnot run: ${notRun.join(', ') || 'none'}`)
  const withRatios = lines.map((line) => ('cannot' in line ? line : { ...line, ratio: ratioOf(line) }))
  return {
    isWhole: lines.every((line) => !('failed' in line)),
    measured: { options, machine, scale, loadAfter: loadavg(), missed, notRun, lines: withRatios },
  }
}

/** One group that breaks leaves the others to be measured. */
async function measureOrSay(name: string, measure: Parameters<Take>[1]): Promise<readonly Line[]> {
  try {
    return await measure()
  } catch (error) {
    const cannot = error instanceof Error ? (error.stack ?? error.message) : String(error)
    return [{ row: name, work: name, cannot, failed: true }]
  }
}

/** What no process started from here can be quicker than: part of every time, on both sides. */
function measureScale(cwd: string): Record<string, number> {
  const of = (...argv: [string, ...string[]]) =>
    median(Array.from({ length: 15 }, () => run({ argv, cwd, env: { PATH: process.env.PATH ?? '' } }).ms))
  return {
    'an empty process': of('true'),
    'an empty shell': of('sh', '-c', ':'),
    'an empty Node': of(process.execPath, '-e', '0'),
  }
}

function describeMachine(checkout: string, restic: string | null): object {
  const env = { PATH: process.env.PATH ?? '' }
  const say = (...argv: [string, ...string[]]) => run({ argv, cwd: checkout, env }).stdout.trim()
  return {
    ...{ platform: platform(), release: release(), arch: arch(), node: process.version },
    ...{ cpu: cpus()[0]?.model ?? 'unknown', cores: cpus().length, memoryBytes: totalmem() },
    ...{ git: say('git', '--version'), restic, load: loadavg(), commit: say('git', 'rev-parse', 'HEAD') },
  }
}
