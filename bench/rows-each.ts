import { appendLine } from './edits.ts'
import { median } from './measure.ts'
import type { Line } from './result.ts'
import type { Stage } from './stage.ts'

const ROW = 'per-file'
const ENDS = 100
/** Without a resident, each turn starts two processes of Node: all files would take half an hour. */
const ALONE = 300
const QUICK = 60

/** Every file in a turn of its own, one after the other: does the last one cost what the first one did? */
export async function measureEach(stage: Stage): Promise<Line[]> {
  const { settings, corpus, root } = stage
  if (!settings.wants(ROW)) return []
  const resident = await stage.client('resident')
  const client = typeof resident === 'string' ? await stage.client('alone') : resident
  if (typeof client === 'string') throw new Error(client)
  const most = settings.isQuick ? QUICK : typeof resident === 'string' ? ALONE : corpus.files.length
  const files = corpus.files.slice(0, most)
  const ends = Math.min(ENDS, Math.floor(files.length / 3))
  const turn = async (file: string, isMeasured: boolean): Promise<number> => {
    if (isMeasured) await client.rest()
    const begun = client.begin(root)
    appendLine(root, [file], 'edited by itself')
    if (isMeasured) await client.rest()
    return begun.ms + client.end(root).ms
  }
  const first: number[] = []
  const last: number[] = []
  for (const [i, file] of files.entries()) {
    const isLast = i >= files.length - ends
    const ms = await turn(file, i < ends || isLast)
    if (i < ends) first.push(ms)
    else if (isLast) last.push(ms)
  }
  const work = `last ${ends} of ${files.length} edits, a turn each, / first ${ends}`
  const notes = [
    typeof resident === 'string' ? `without resident (${resident}), so only ${files.length} edits` : null,
  ].filter((note) => note !== null)
  return [
    {
      ...{ row: ROW, work, unit: 'ms', peerName: 'itself', goal: 1.2, notes },
      ...{ ours: median(last), peer: median(first), samples: { first, last } },
      quickest: { ours: Math.min(...last), peer: Math.min(...first) },
    },
  ]
}
