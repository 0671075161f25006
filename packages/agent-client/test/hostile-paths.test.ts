import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  ABSENT,
  type BlobId,
  type Change,
  type FileState,
  findPathFault,
  makeId,
  type PlanStep,
  planRestore,
  type RelPath,
  relPathSchema,
  type TurnManifest,
  turnManifestSchema,
  writeName,
} from '@turnback/core'
import { SeededRandom } from '@turnback/core/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { carryOut } from '#restore/carry-out.ts'
import { createTreeWriter } from '#worktree/tree-writer.ts'
import { CaptureRig } from './support/capture-rig.ts'
import { findHarm, hostilePath } from './support/hostile-paths.ts'
import { IS_LONG } from './support/step-points.ts'
import { differences, snapshotTree } from './support/tree-snapshot.ts'

const PATHS = IS_LONG ? 1_000_000 : 50_000
const MANIFESTS = 500
const NAMES = 2_000
const timeout = 3_600_000

let rig: CaptureRig
beforeAll(() => {
  if (!IS_LONG && existsSync('/dev/shm')) process.env.TMPDIR = '/dev/shm'
  rig = new CaptureRig('hostile', false)
})
afterAll(() => rig.dispose())

test(`of ${PATHS} paths each that is taken stays below the root and out of every repository`, {
  timeout,
}, () => {
  const random = new SeededRandom(7)
  const tally = { taken: 0, outside: 0, git: 0, other: 0, fooled: 0 }
  for (let i = 0; i < PATHS; i++) {
    const path = hostilePath(random)
    for (const platform of ['posix', 'darwin', 'windows'] as const) {
      const harm = findHarm(path, platform)
      const fault = findPathFault(path, platform)
      if (harm !== null && fault === null) expect.fail(`${platform} takes ${JSON.stringify(path)}: ${harm}`)
      if (platform !== 'posix') continue
      if (harm !== null && isFine(path)) tally.fooled++
      if (fault === null) tally.taken++
      else if (harm === 'outside') tally.outside++
      else if (harm === 'git') tally.git++
      else tally.other++
      if ((fault === null) !== relPathSchema.safeParse(path).success)
        expect.fail(`the service judges ${JSON.stringify(path)} otherwise`)
    }
  }
  for (const count of [tally.taken, tally.outside, tally.git]) expect(count).toBeGreaterThan(PATHS / 20)
})

/** A judge as one writes it at first. */
function isFine(path: string): boolean {
  const names = path.split('/')
  return !path.startsWith('/') && !names.includes('..') && !names.includes('.git') && !path.includes('\0')
}

/** A manifest as a real turn has it, with other paths. */
async function realManifest(): Promise<TurnManifest> {
  rig.write('a', 'old')
  await rig.init()
  return rig.turn(() => rig.write('a', 'new'))
}

test(`${MANIFESTS} hostile manifests: none is taken, and plans made of them write nothing outside and nothing in .git`, {
  timeout,
}, async () => {
  rig.useTree('manifests')
  const manifest = await realManifest()
  const [entry] = manifest.entries
  if (entry === undefined || entry.before.kind !== 'file') throw new Error('no entry')
  expect(turnManifestSchema.safeParse(manifest).success).toBe(true)
  const random = new SeededRandom(11)
  for (const [path, text] of [
    ['.git/config', 'mine'],
    ['sub/.git/config', 'mine'],
    ['sub/in', 'agent'],
  ] as const)
    rig.write(path, text)
  mkdirSync(join(rig.top, 'outside'))
  writeFileSync(join(rig.top, 'outside/a'), 'mine')
  symlinkSync('../outside', rig.at('way-out'))
  const outside = () =>
    [
      snapshotTree(join(rig.top, 'outside'), []),
      snapshotTree(rig.at('.git'), []),
      snapshotTree(rig.at('sub/.git'), []),
    ] as const
  const before = outside()
  const aboveBefore = readdirSync(rig.top).sort()
  let steps = 0
  for (let i = 0; i < MANIFESTS; i++) {
    const paths = Array.from({ length: 1 + random.below(5) }, () => hostilePathOnly(random))
    for (const path of paths) {
      // The path of a `.git` itself may be told of, as one that was left out. It is never written to.
      const isTold = findPathFault(path, 'posix') === 'git-directory'
      const parsed = turnManifestSchema.safeParse({ ...manifest, entries: [{ ...entry, path }] })
      if (!isTold) expect(parsed.success, JSON.stringify(path)).toBe(false)
      const pushed = { ...manifest, restore: restoreOf(manifest, path) }
      expect(turnManifestSchema.safeParse(pushed).success, JSON.stringify(path)).toBe(false)
    }
    steps += await planAndWrite([...paths, 'way-out/a', `good/f${i}`], entry.before.blob)
    expect(readFileSync(rig.at(`good/f${i}`), 'utf8')).toBe('old')
  }
  for (const [n, now] of outside().entries()) expect(differences(before[n] ?? new Map(), now)).toEqual([])
  expect(readdirSync(rig.top).sort()).toEqual(aboveBefore)
  expect(existsSync('/tmp/turnback-hostile')).toBe(false)
  expect(steps).toBeGreaterThanOrEqual(MANIFESTS)
})

function hostilePathOnly(random: SeededRandom): string {
  for (;;) {
    const path = hostilePath(random)
    if (findHarm(path, 'posix') !== null && path.length > 0) return path
  }
}

function restoreOf(manifest: TurnManifest, path: string): TurnManifest['restore'] {
  return {
    ...{
      id: makeId('r', 1, new Uint8Array(10)),
      of: [],
      scope: 'from-turn',
      exact: false,
      paths: null,
      target: manifest.turn,
    },
    ...{
      takenBack: null,
      status: 'done',
      scan: 3,
      popped: [],
      putBack: [],
      pushed: [{ path, before: ABSENT, after: ABSENT }],
    },
  }
}

/** Plans as if the log said that an agent removed these paths, and carries the plan out; then its steps as they were asked for. */
async function planAndWrite(paths: readonly RelPath[], blob: BlobId): Promise<number> {
  const { deps, workspace } = rig
  const turn = makeId('t', 1, new Uint8Array(10))
  const was: FileState = { kind: 'file', blob, sizeBytes: 3, mode: 0o644 }
  const facts = { turn, kind: 'agent', session: 's' } as const
  const changes: Change[] = paths.map((path) => ({
    ...{ ...facts, path, scan: 1, source: 'tool', sharedBy: [], before: was, after: ABSENT },
  }))
  const plan = planRestore({
    request: { target: turn, scope: 'from-turn', exact: false, onConflict: 'keep', paths: null, hunks: null },
    ...{ changes, events: [], restores: [], tree: new Map() },
    turns: [{ ...facts, number: 1, beginScan: 0, hasChanges: true, paths: null }],
    content: { hasBlob: () => true, readText: () => null, nameText: () => blob, sha256: () => '' },
  })
  for (const { path } of plan.steps) expect(findHarm(path, 'posix'), JSON.stringify(path)).toBeNull()
  const { random, blobs } = deps
  const writer = () => createTreeWriter({ workspace, restore: makeId('r', 1, random(10)), blobs, random })
  const { done } = await carryOut(writer(), plan.steps)
  // The plan of somebody who does not ask for what is right.
  const forced: PlanStep[] = paths.slice(0, -1).map((path) => ({
    ...{ path, from: ABSENT, to: was, phase: 'create', list: 'restored' },
    effect: { popped: [], putBack: [], pushed: null },
  }))
  const second = await carryOut(writer(), forced)
  expect(second.done).toEqual([])
  return done.length
}

test(`${NAMES} odd but legal names are all restored`, { timeout }, async () => {
  rig.useTree('names')
  const random = new SeededRandom(5)
  const names = new Map<string, Buffer>()
  while (names.size < NAMES) {
    const name = oddName(random)
    if (name !== null && findPathFault(writeName(name), 'posix') === null) names.set(writeName(name), name)
  }
  const at = (name: Buffer): Buffer => Buffer.concat([Buffer.from(`${rig.root}/`), name])
  const content = (written: string): string => createHash('sha256').update(written).digest('hex')
  for (const [written, name] of names) writeFileSync(at(name), content(written))
  await rig.init()
  const before = snapshotTree(rig.root)
  expect(before.size).toBe(NAMES)
  const { turn } = await rig.turn(() => {
    let i = 0
    for (const name of names.values()) {
      if (i++ % 2 === 0) rmSync(at(name))
      else writeFileSync(at(name), 'by the agent')
    }
  })
  const { json } = rig.run(['restore', turn, '--json'])
  expect(json).toMatchObject({ status: 'done', verified: true, kept: [], failed: [] })
  expect([...(json.restored as string[])].sort()).toEqual([...names.keys()].sort())
  expect(differences(before, snapshotTree(rig.root))).toEqual([])
})

/** Any bytes that a file system takes: text of all scripts, signs that shells and tools mind, and bytes that are no text. */
function oddName(random: SeededRandom): Buffer | null {
  const length = 1 + random.below(random.chance(5) ? 250 : 12)
  const pool = random.below(4)
  const one = (): Buffer => {
    if (pool === 0) return Buffer.of(1 + random.below(255))
    if (pool === 1) return Buffer.from(random.pick([...' \t\n\r"\'\\`$&|;<>*?[]{}()!#~-:%@^+=,']))
    if (pool === 2) return Buffer.from(String.fromCodePoint(0x80 + random.below(0xd000)))
    return Buffer.from(
      random.pick([
        'a',
        '.',
        'b64:',
        '.git',
        'é',
        'e\u0301',
        '🎉',
        'ﬀ',
        'İ',
        '\u202e',
        '\u200d',
        'nul',
        'CON',
        ' ',
      ]),
    )
  }
  const name = Buffer.concat(Array.from({ length }, one)).subarray(0, 255)
  const text = name.toString('latin1')
  return text === '.' ||
    text === '..' ||
    name.includes(0x2f) ||
    text.startsWith('.turnback-') ||
    text === 'node_modules'
    ? null
    : name
}
