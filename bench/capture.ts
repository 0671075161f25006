import { measureBegin } from './rows-begin.ts'
import { measureEach } from './rows-each.ts'
import { measureFirst, measurePeak } from './rows-first.ts'
import { measureSizes, SIZE_ROWS } from './rows-size.ts'
import { measureTen } from './rows-ten.ts'
import { measureTurn } from './rows-turn.ts'
import { type Take, TEN } from './session.ts'
import { type Settings, Stage } from './stage.ts'

/** Capture against its peers. */
export async function measureCapture(settings: Settings, take: Take): Promise<void> {
  await measureOneTree(settings, take)
  await measureFreshTree(settings, take)
  await take('ten', () => measureTen(settings))
  if (settings.copies !== TEN) await measureTenTrees(settings, take)
}

async function measureOneTree(settings: Settings, take: Take): Promise<void> {
  const stage = new Stage(settings, 'tree', settings.copies)
  try {
    stage.git.init()
    await take('first', () => measureFirst(stage))
    await take('memory', () => measurePeak(stage, 'memory', 'memory peak of first capture', 3))
    await take('begin', () =>
      measureBegin(stage, [
        { row: 'begin', work: 'begin, nothing changed, resident', manner: 'resident', goal: 0.12 },
        { row: 'begin-stat-scan', work: 'the same with a full stat scan', manner: 'stat-scan', goal: 0.4 },
        { row: 'begin-alone', work: 'the same with no resident', manner: 'alone', goal: 1.3 },
      ]),
    )
    for (const [count, goal] of [
      [4, 0.15],
      [100, 0.2],
    ] as const) {
      const work = `turn with ${count} changed files, resident`
      await take(`turn-${count}`, () =>
        measureTurn(stage, { row: `turn-${count}`, work, goal, count, after: null }),
      )
    }
    const after = { row: 'after-all', work: 'the next unchanged begin after it', goal: 0.03 }
    const work = `turn with all ${stage.corpus.files.length} changed, resident`
    await take('turn-all', () => measureTurn(stage, { row: 'turn-all', work, goal: 0.2, count: null, after }))
    await take('per-file', () => measureEach(stage))
  } finally {
    stage.close()
  }
}

async function measureFreshTree(settings: Settings, take: Take): Promise<void> {
  if (!SIZE_ROWS.some((row) => settings.wants(row))) return
  const stage = new Stage(settings, 'sizes', settings.copies)
  try {
    stage.git.init()
    await take('sizes', () => measureSizes(stage))
  } finally {
    stage.close()
  }
}

async function measureTenTrees(settings: Settings, take: Take): Promise<void> {
  const rows = ['begin-10x', 'memory-10x']
  if (settings.isQuick || !rows.some((row) => settings.wants(row))) return
  const stage = new Stage(settings, 'ten', TEN)
  try {
    const peak = 'memory peak of first capture, 10 × tree'
    await take('memory-10x', () => measurePeak(stage, 'memory-10x', peak, 1))
    if (!settings.wants('begin-10x')) return
    stage.git.init()
    const work = 'begin, nothing changed, resident, 10 × tree'
    await take('begin-10x', () =>
      measureBegin(stage, [{ row: 'begin-10x', work, manner: 'resident', goal: 0.03 }]),
    )
  } finally {
    stage.close()
  }
}
