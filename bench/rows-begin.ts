import type { Client, Manner } from './client.ts'
import { median } from './measure.ts'
import type { Line } from './result.ts'
import type { Stage } from './stage.ts'

export interface BeginRow {
  readonly row: string
  readonly work: string
  readonly manner: Manner
  readonly goal: number
}

/** A turn begins and nothing has changed: what a person waits for before every prompt. */
export async function measureBegin(stage: Stage, rows: readonly BeginRow[]): Promise<Line[]> {
  const { settings } = stage
  const wanted = rows.filter(({ row }) => settings.wants(row))
  if (wanted.length === 0) return []
  const clients = new Map<string, Client>()
  const lines = new Map<string, Line>()
  for (const { row, work, manner } of wanted) {
    const client = await stage.client(manner)
    if (typeof client === 'string') lines.set(row, { row, work, cannot: client })
    else clients.set(row, client)
  }
  const taken = new Map<string, number[]>()
  const contenders = ['git', ...clients.keys()]
  for (let round = 0; round < settings.rounds; round++) {
    for (let i = 0; i < contenders.length; i++) {
      const name = contenders[(i + round) % contenders.length] ?? 'git'
      for (const each of clients.values()) await each.rest()
      const client = clients.get(name)
      const { ms } = client === undefined ? stage.git.snapshot() : client.begin(stage.root)
      client?.end(stage.root)
      taken.set(name, [...(taken.get(name) ?? []), ms])
    }
  }
  const git = taken.get('git') ?? []
  return wanted.map(({ row, work, goal }): Line => {
    const ours = taken.get(row) ?? []
    return (
      lines.get(row) ?? {
        ...{ row, work, goal, unit: 'ms', peerName: 'git' },
        ...{ ours: median(ours), peer: median(git), samples: { ours, git } },
        quickest: { ours: Math.min(...ours), peer: Math.min(...git) },
      }
    )
  })
}
