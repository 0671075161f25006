import { appendFileSync, closeSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from './client.ts'
import { appendLine } from './edits.ts'
import { median, runForPeak } from './measure.ts'
import type { Line } from './result.ts'
import { type Take, TEN } from './session.ts'
import { type Settings, Stage } from './stage.ts'

const MIB = 1024 * 1024
const GOAL_BYTES = 300 * MIB
const RUNS = 3

/** The most memory that a restore without a resident holds: all files, ten times as many, one file of a gibibyte. */
export async function measureMemory(settings: Settings, take: Take): Promise<void> {
  await take('memory', () => ofTree(settings, 'memory', 1, RUNS))
  if (settings.isQuick) return
  await take('memory-10x', () => ofTree(settings, 'memory-10x', TEN, 1))
  await take('memory-big', () => ofBigFile(settings, 'memory-big'))
}

async function ofTree(settings: Settings, row: string, copies: number, runs: number): Promise<Line[]> {
  if (!settings.wants(row)) return []
  const stage = new Stage(settings, row, copies)
  try {
    const client = stage.newClient('alone', join(settings.work, `home-${row}`))
    const { root, corpus } = stage
    const edit = (run: number) => appendLine(root, corpus.files, `${row}, ${run}`)
    const work = `memory peak of restoring ${corpus.files.length} files`
    return [await peakOf(client, root, edit, { row, work, runs })]
  } finally {
    stage.close()
  }
}

async function ofBigFile(settings: Settings, row: string): Promise<Line[]> {
  if (!settings.wants(row)) return []
  const root = join(settings.work, row)
  mkdirSync(root)
  const file = join(root, 'big.bin')
  writeBig(file)
  const home = join(settings.work, `home-${row}`)
  const client = new Client({ manner: 'alone', checkout: settings.checkout, home })
  writeFileSync(join(home, 'turnback/config.json'), JSON.stringify({ maxFileBytes: 4096 * MIB }))
  const edit = (run: number) => appendFileSync(file, `one line more, ${run}\n`)
  try {
    return [
      await peakOf(client, root, edit, { row, work: 'memory peak of restoring one file of 1 GiB', runs: 1 }),
    ]
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

/** Bytes that do not get smaller by packing, and of which no two pieces are alike. */
function writeBig(file: string): void {
  const fd = openSync(file, 'w')
  const piece = new Uint32Array(MIB / 4)
  let seed = 1
  for (let i = 0; i < 1024; i++) {
    for (let at = 0; at < piece.length; at++) {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
      piece[at] = seed ^ (seed >>> 15)
    }
    writeSync(fd, piece)
  }
  closeSync(fd)
}

async function peakOf(
  client: Client,
  root: string,
  edit: (run: number) => void,
  { row, work, runs }: { row: string; work: string; runs: number },
): Promise<Line> {
  const peaks: number[] = []
  let lastMs = 0
  for (let run = 0; run < runs; run++) {
    client.begin(root)
    edit(run)
    client.end(root)
    const { peakBytes, ms } = await runForPeak(client.command(root, 'restore', 'last', '--json'))
    if (peakBytes === null) return { row, work, cannot: 'this system has no /proc to read it from' }
    peaks.push(peakBytes)
    lastMs = ms
  }
  return {
    ...{ row, work, unit: 'bytes', peer: null, peerName: '', isAbsolute: true, goal: GOAL_BYTES },
    ...{ ours: median(peaks), samples: { ours: peaks }, notes: [`took ${(lastMs / 1000).toFixed(1)} s`] },
  }
}
