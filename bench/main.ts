/*
 * `pnpm bench capture` and `pnpm bench restore`: what they cost, side by side with their peers in one run. Prints ratios
 * and says which goals are reached. It fails when something breaks, never because something was slow.
 */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { measureCapture } from './capture.ts'
import { measureRestore } from './restore.ts'
import { type BenchOptions, bench } from './session.ts'

const USAGE = `usage: pnpm bench capture|restore [options]
  --rows a,b              only rows whose names begin so (begin, turn-4, restore-100, ...)
  --rounds n              how often each time is taken; the table shows medians (9)
  --quick                 a small tree, 3 rounds, no 10 × tree: a look, no figures to quote
  --corpus small|full|10x about 470 files, 4,686 files, or ten times these for every row (full)
  --json FILE             where everything that was measured goes (bench-capture.json, bench-restore.json)`

const WHAT = new Map([
  ['capture', measureCapture],
  ['restore', measureRestore],
])

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      rows: { type: 'string' },
      rounds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      corpus: { type: 'string' },
      json: { type: 'string' },
    },
  })
  const corpus = values.corpus ?? (values.quick ? 'small' : 'full')
  const rounds = Number(values.rounds ?? (values.quick ? 3 : 9))
  const isKnown = corpus === 'small' || corpus === 'full' || corpus === '10x'
  const measureRows = WHAT.get(positionals.join(' '))
  if (measureRows === undefined || !isKnown || !Number.isInteger(rounds) || rounds < 1) {
    console.error(USAGE)
    return 2
  }
  const options: BenchOptions = {
    rows: values.rows?.split(',') ?? null,
    rounds,
    isQuick: values.quick,
    corpus,
  }
  const sinceMs = performance.now()
  const { isWhole, measured } = await bench(options, (text) => console.log(text), measureRows)
  const file = values.json ?? `bench-${positionals[0]}.json`
  writeFileSync(file, `${JSON.stringify(measured, null, 2)}\n`)
  console.log(`took ${((performance.now() - sinceMs) / 1000).toFixed(0)} s; everything is in ${file}`)
  return isWhole ? 0 : 1
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))
process.exitCode = await main()
