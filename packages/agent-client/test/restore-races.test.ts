import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type FileState, makeId, type State } from '@turnback/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { StepOutcome, TreeStep, TreeWriter } from '#ports.ts'
import { CaptureRig } from './support/capture-rig.ts'
import { IS_LONG } from './support/step-points.ts'

const SECONDS = IS_LONG ? 20 : 1
/** Of each kind, however slow the machine is: together more than a hundred thousand in the long run. */
const LEAST_TRIES = IS_LONG ? 34_000 : 300
const timeout = 3_600_000
const ABSENT: State = { kind: 'absent' }

let rig: CaptureRig
let outside: string
let swapper: ChildProcess | null = null
beforeEach(async () => {
  if (existsSync('/dev/shm')) process.env.TMPDIR = '/dev/shm'
  rig = new CaptureRig('race', false)
  outside = join(rig.top, 'outside')
  for (const path of ['sub/leaf', 'top/sub/leaf']) rig.write(path, 'one')
  mkdirSync(join(outside, 'sub'), { recursive: true })
  for (const path of ['victim', 'sub/leaf', 'leaf']) writeFileSync(join(outside, path), 'one')
  await rig.init()
})
afterEach(() => {
  swapper?.kill('SIGKILL')
  rig.dispose()
})

interface Race {
  readonly kind: string
  /** What is swapped for a link, and what that leads to, below the folder outside. */
  readonly name: string
  readonly target: string
  /** Where is written to. */
  readonly folder: string
}

const RACES: readonly Race[] = [
  { kind: 'the parent is swapped for a link', name: 'sub', target: '', folder: 'sub' },
  { kind: 'a folder further up is swapped for a link', name: 'top', target: '', folder: 'top/sub' },
  { kind: 'the file itself is swapped for a link', name: 'sub/leaf', target: 'victim', folder: 'sub' },
]

async function startSwapping({ name, target }: Race): Promise<void> {
  const script = join(import.meta.dirname, 'support/swap-parent.ts')
  swapper = spawn(process.execPath, [script, rig.root, name, join(outside, target)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (swapper.stdout !== null) await once(swapper.stdout, 'data')
}

/** All that lies outside, with its bytes. */
function lookOutside(): Record<string, string> {
  return Object.fromEntries(
    readdirSync(outside, { recursive: true })
      .map(String)
      .sort()
      .map((path): [string, string] => {
        const at = join(outside, path)
        return [path, lstatSync(at).isFile() ? readFileSync(at, 'utf8') : 'a folder']
      }),
  )
}

function stateOf(text: string): FileState {
  const { deps, workspace } = rig
  const blob = deps.blobs.put(workspace.id, Buffer.from(text), false)
  deps.blobs.flush()
  return { kind: 'file', blob, sizeBytes: text.length, mode: 0o644 }
}

/** A step by itself, or in its two halves as when many are made durable together. */
async function take(writer: TreeWriter, step: TreeStep, n: number): Promise<StepOutcome> {
  const begun = n % 2 === 0 ? null : writer.begin(step, n)
  if (begun === null) return writer.apply(step, n)
  if ('ok' in begun) return begun
  await begun.sync()
  return begun.finish()
}

test.each(RACES)(
  '$kind: nothing outside changes, while checking and then writing by path does escape',
  {
    timeout,
  },
  async (race) => {
    const [one, two] = [stateOf('one'), stateOf('two')]
    const before = lookOutside()
    const { deps, workspace } = rig
    const writer = deps.writer(workspace, makeId('r', 1, deps.random(10)))
    const tally = { tries: 0, written: 0, blocked: 0 }
    const count = async (path: string, from: State, to: State): Promise<boolean> => {
      const { ok } = await take(writer, { path, from, to }, tally.tries++)
      if (ok) tally.written++
      else tally.blocked++
      return ok
    }
    await startSwapping(race)
    const began = Date.now()
    const isEnough = (): boolean =>
      Date.now() - began > SECONDS * 1000 &&
      tally.tries >= LEAST_TRIES &&
      tally.written >= 50 &&
      tally.blocked >= 10
    for (let n = 0; !isEnough() && Date.now() - began < SECONDS * 120_000; n++) {
      const path = `${race.folder}/f${n % 40}`
      const isNew = await count(path, ABSENT, two)
      if (isNew || n % 40 === 39) await count(path, two, ABSENT)
      const leaf = `${race.folder}/leaf`
      if (!(await count(leaf, one, two))) await count(leaf, two, one)
    }
    await writer.rest('all')
    writer.close()
    expect(lookOutside()).toEqual(before)
    expect(tally.written).toBeGreaterThanOrEqual(50)
    expect(tally.blocked, 'the race was on').toBeGreaterThanOrEqual(10)
    expect(tally.tries).toBeGreaterThanOrEqual(LEAST_TRIES)
    if (IS_LONG) console.info(`${race.kind}: ${JSON.stringify(tally)}`)

    // The control: the same race against a check and a write by path.
    const hasEscaped = (): boolean => JSON.stringify(lookOutside()) !== JSON.stringify(before)
    for (let n = 0; n < 400_000 && (n % 20 !== 0 || !hasEscaped()); n++) {
      try {
        const path = race.target === '' ? `${race.folder}/n${n % 40}` : race.name
        const checked = lstatSync(rig.at(race.name))
        if (!checked.isSymbolicLink()) writeFileSync(rig.at(path), 'escaped')
      } catch {
        // It was away for a moment: part of the race.
      }
    }
    expect(hasEscaped()).toBe(true)
  },
)
