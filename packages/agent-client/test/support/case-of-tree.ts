import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isSealed, type State, type TurnId, type TurnManifest } from '@turnback/core'
import fc from 'fast-check'
import { expect } from 'vitest'
import type { CaptureRig } from './capture-rig.ts'
import { building, type Edit, type Editor, editing } from './random-tree.ts'
import { type Difference, diffViews, type View, viewTree } from './tree-oracle.ts'

/** A tree, and turns in it with what a person does between them. */
export interface TreeCase {
  readonly tree: readonly Edit[]
  readonly ignoresBuild: boolean
  readonly turns: readonly {
    readonly outside: readonly Edit[]
    readonly inside: readonly Edit[]
    readonly isReopened: boolean
  }[]
}

/** git is slow to start, so only some trees have it. */
const sometimes = fc.nat(7).map((n) => n === 0)

export const treeCase: fc.Arbitrary<TreeCase> = sometimes.chain((git) =>
  fc.record({
    tree: building,
    ignoresBuild: fc.boolean(),
    turns: fc.array(
      fc.record({
        outside: fc.oneof(
          { weight: 2, arbitrary: fc.constant([]) },
          { weight: 1, arbitrary: editing(git, 3) },
        ),
        inside: editing(git, 7),
        isReopened: sometimes,
      }),
      { minLength: 1, maxLength: 2 },
    ),
  }),
)

/** How a turn is begun and ended: in this process, or in others that are killed at it. */
export interface Driver {
  begin(): Promise<TurnId>
  end(): Promise<void>
}

let trees = 0

/** Plays one case in a folder of its own; what the log says of each turn must be what the oracle saw. */
export async function playCase(
  rig: CaptureRig,
  editor: Editor,
  whole: TreeCase,
  driver: Driver = inProcess(rig),
): Promise<void> {
  rig.useTree(`tree-${trees++}`)
  try {
    await layTree(editor, rig.root, whole)
    await rig.init()
    const oracle = new OracleTree(rig.root, whole.ignoresBuild)
    for (const { outside, inside, isReopened } of whole.turns) {
      if (isReopened) rig.reopen()
      await editor.edit(rig.root, outside)
      const turn = await driver.begin()
      const byOthers = oracle.look()
      await editor.edit(rig.root, inside)
      await driver.end()
      const byTurn = oracle.look()
      const manifest = await rig.manifest(turn)
      expect(readEntries(rig, manifest)).toEqual(byTurn)
      expect(listUnsealed(manifest)).toEqual([])
      const turns = rig.deps.log.listTurns(rig.workspace.id)
      const before = turns.find(({ number }) => number === manifest.number - 1)
      const found = before?.kind === 'outside' ? readEntries(rig, await rig.manifest(before.turn)) : []
      expect(found).toEqual(byOthers)
    }
  } finally {
    openAll(Buffer.from(rig.root))
    rmSync(rig.root, { recursive: true, force: true })
  }
}

function inProcess(rig: CaptureRig): Driver {
  return {
    begin: () => rig.begin(),
    async end() {
      await rig.end()
    },
  }
}

/** What edits closed is opened again, so that it can be removed. */
function openAll(folder: Buffer): void {
  chmodSync(folder, 0o755)
  for (const entry of readdirSync(folder, { withFileTypes: true, encoding: 'buffer' })) {
    if (entry.isDirectory()) openAll(Buffer.concat([folder, Buffer.from('/'), entry.name]))
  }
}

/** A tree looked at by the oracle before and after each turn. */
class OracleTree {
  readonly #root: string
  readonly #ignored: string | null
  #view: View

  constructor(root: string, ignoresBuild: boolean) {
    this.#root = root
    this.#ignored = ignoresBuild ? 'build' : null
    this.#view = viewTree(root, null, this.#ignored)
  }

  /** What changed since the last time. */
  look(): Difference[] {
    const before = this.#view
    this.#view = viewTree(this.#root, before, this.#ignored)
    return diffViews(before, this.#view)
  }
}

async function layTree(editor: Editor, root: string, { tree, ignoresBuild }: TreeCase): Promise<void> {
  mkdirSync(root, { recursive: true })
  if (ignoresBuild) writeFileSync(join(root, '.gitignore'), 'build/\n*.log\n')
  await editor.edit(root, tree)
}

/** A state as the oracle would write it. */
export function lineOf(rig: CaptureRig, state: State): string {
  switch (state.kind) {
    case 'file': {
      const bytes = rig.deps.blobs.read(state.blob)
      const sha = createHash('sha256').update(bytes).digest('hex')
      return `file ${state.mode.toString(8)} ${sha} ${state.sizeBytes}`
    }
    case 'symlink':
      return `symlink ${state.target}`
    case 'dir':
      return `dir ${state.mode.toString(8)}`
    case 'absent':
      return 'absent'
    case 'skipped':
      return `skipped ${state.reason}`
  }
}

/** A manifest's entries as the oracle would write them. Bytes are read from the store, so they are there, and right. */
export function readEntries(rig: CaptureRig, manifest: Pick<TurnManifest, 'entries'>): Difference[] {
  return manifest.entries.map(({ path, before, after }) => ({
    path,
    before: lineOf(rig, before),
    after: lineOf(rig, after),
  }))
}

/** Files whose names say that they are secret and whose bytes are named openly all the same. */
function listUnsealed(manifest: Pick<TurnManifest, 'entries'>): string[] {
  return manifest.entries
    .filter(({ path }) => /(^|\/)(\.env|server\.pem)$/.test(path))
    .filter(({ before, after }) =>
      [before, after].some((state) => state.kind === 'file' && !isSealed(state.blob)),
    )
    .map(({ path }) => path)
}
