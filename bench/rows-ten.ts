import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from './client.ts'
import { Git } from './peers.ts'
import type { Line } from './result.ts'
import { inParts } from './rows-size.ts'
import type { Settings } from './stage.ts'

const FILE = 'notes.txt'
const FILE_BYTES = 2_000_000
const TURNS = 10

/** One file of 2 MB in ten turns: a line more each time; or changed to the same result and back. */
export function measureTen(settings: Settings): Line[] {
  const lines: Line[] = []
  if (settings.wants('ten-appends')) {
    lines.push(
      play(settings, 'ten-appends', '2 MB file, ten turns, a line appended each', (path) => ({
        change: (turn) => appendFileSync(path, `and a line of turn ${turn}\n`),
        takeBack: () => undefined,
      })),
    )
  }
  if (settings.wants('same-result')) {
    lines.push(
      play(settings, 'same-result', '2 MB file, ten times the same result', (path, text) => ({
        change: () => writeFileSync(path, `${text}and always this line\n`),
        takeBack: () => writeFileSync(path, text),
      })),
    )
  }
  return lines
}

type Play = (path: string, text: string) => { change(turn: number): void; takeBack(): void }

function play(settings: Settings, row: string, work: string, make: Play): Line {
  const root = join(settings.work, row)
  mkdirSync(root)
  const path = join(root, FILE)
  const text = textOf(settings)
  writeFileSync(path, text)
  const git = new Git(root)
  git.init()
  const home = join(settings.work, `home-${row}`)
  const client = new Client({ manner: 'alone', checkout: settings.checkout, home })
  const { change, takeBack } = make(path, text)
  client.begin(root)
  client.end(root)
  const empty = `of the log, ${(client.logAndIndex().bytes / 1e6).toFixed(3)} MB are there before the first turn changes anything`
  for (let turn = 1; turn <= TURNS; turn++) {
    client.begin(root)
    git.snapshot()
    change(turn)
    client.end(root)
    git.snapshot()
    takeBack()
  }
  git.gc()
  const packs = client.packs().bytes
  const log = client.logAndIndex().bytes
  const peer = git.objects().bytes
  const raw = `raw copies: ${((TURNS * text.length) / 1e6).toFixed(1)} MB`
  return {
    ...{ row, work, unit: 'bytes', ours: packs + log, peer, peerName: 'git gc', goal: 1 },
    notes: [inParts(packs, log, peer, 1), empty, raw],
  }
}

/** Source text, as in the tree: many small files, one after the other. */
function textOf(settings: Settings): string {
  let text = ''
  for (const { from, sizeBytes } of settings.chosen) {
    if (sizeBytes > 100_000) continue
    text += readFileSync(from, 'latin1')
    if (text.length >= FILE_BYTES) break
  }
  return text.slice(0, FILE_BYTES).replace(/[^\n\x20-\x7e]/g, ' ')
}
