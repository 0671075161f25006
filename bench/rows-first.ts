import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { median, runForPeak, settleDisk } from './measure.ts'
import { HOW_TO_GET_RESTIC, Restic } from './peers.ts'
import type { Line } from './result.ts'
import type { Stage } from './stage.ts'

const WORK = 'first capture'
const PEAK_GOAL_BYTES = 300 * 1024 * 1024

/** Everything is new: our first `begin`, git into an empty repository, restic into one. All files are in memory. */
export function measureFirst(stage: Stage): Line[] {
  const { settings } = stage
  const rows = ['first-git', 'first-restic'].filter((row) => settings.wants(row))
  if (rows.length === 0) return []
  const contenders = ['ours', 'git', ...(settings.hasRestic ? ['restic'] : [])]
  const taken: Record<string, number[]> = Object.fromEntries(contenders.map((name) => [name, []]))
  for (let round = 0; round < settings.rounds; round++) {
    for (let i = 0; i < contenders.length; i++) {
      const name = contenders[(i + round) % contenders.length] ?? ''
      taken[name]?.push(firstOf(stage, name))
    }
  }
  const ours = median(taken.ours ?? [])
  const line = (row: string, peerName: string, goal: number): Line => {
    const work = `${WORK} / ${peerName}`
    if (taken[peerName] === undefined) return { row, work, cannot: HOW_TO_GET_RESTIC }
    const peer = median(taken[peerName])
    const quickest = { ours: Math.min(...(taken.ours ?? [])), peer: Math.min(...taken[peerName]) }
    return { row, work, unit: 'ms', ours, peer, peerName, goal, quickest, samples: taken }
  }
  return rows.map((row) => (row === 'first-git' ? line(row, 'git', 0.25) : line(row, 'restic', 0.6)))
}

function firstOf(stage: Stage, name: string): number {
  const folder = join(stage.settings.work, `first-${crypto.randomUUID()}`)
  try {
    settleDisk(stage.root)
    switch (name) {
      case 'git':
        return stage.git.addToEmpty(folder).ms
      case 'restic':
        return new Restic(stage.root, folder).backup().ms
      default:
        return stage.newClient('alone', folder).begin(stage.root).ms
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The most memory that a first capture holds, threads included. */
export async function measurePeak(stage: Stage, row: string, work: string, runs: number): Promise<Line[]> {
  if (!stage.settings.wants(row)) return []
  const peaks: number[] = []
  let last = 0
  for (let i = 0; i < runs; i++) {
    const folder = join(stage.settings.work, `first-${crypto.randomUUID()}`)
    const client = stage.newClient('alone', folder)
    const { peakBytes, ms } = await runForPeak(client.command(stage.root, 'begin', '--session', 'bench'))
    rmSync(folder, { recursive: true, force: true })
    if (peakBytes === null) return [{ row, work, cannot: 'this system has no /proc to read it from' }]
    peaks.push(peakBytes)
    last = ms
  }
  return [
    {
      ...{ row, work, unit: 'bytes', peer: null, peerName: '', isAbsolute: true, goal: PEAK_GOAL_BYTES },
      ...{ ours: median(peaks), samples: { ours: peaks }, notes: [`took ${(last / 1000).toFixed(1)} s`] },
    },
  ]
}
