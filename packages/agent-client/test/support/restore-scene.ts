import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { RestoreReport, TurnId } from '@turnback/core'
import { expect } from 'vitest'
import { CaptureRig } from './capture-rig.ts'
import { runHere } from './command-here.ts'
import type { Step } from './fs-steps.ts'
import type { StepPlan } from './plan-step.ts'
import { differences, snapshotTree, type TreeSnapshot } from './tree-snapshot.ts'

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const [STEPS, CACHE, MAIN] = [
  file('./plan-step.ts'),
  file('../../../../bin/compile-cache.mjs'),
  file('../../src/main.ts'),
]

/** What a person made or changed around the turn: whatever happens, it is there as it was. */
const MINE = ['mine.txt', 'd0/mine-later', 'made/mine', 'd1/by-hand']

/**
 * A turn that did everything to so many files, a person's work around it, and a restoring command that is about to be
 * given. It can be put back to that moment as often as wanted.
 */
export class RestoreScene {
  readonly rig: CaptureRig
  readonly args: readonly string[]
  readonly turn: TurnId
  /** The restore that a redo takes back; else null. */
  readonly undone: TurnId | null
  /** The tree when the command comes, and when it has been carried out. */
  readonly before: TreeSnapshot
  readonly after: TreeSnapshot

  private constructor(
    rig: CaptureRig,
    args: readonly string[],
    { turn, undone }: Pick<RestoreScene, 'turn' | 'undone'>,
    after: TreeSnapshot,
  ) {
    this.rig = rig
    this.args = args
    this.turn = turn
    this.undone = undone
    this.before = snapshotTree(rig.root)
    this.after = after
  }

  static async make(files: number, what: 'restore' | 'redo'): Promise<RestoreScene> {
    const rig = new CaptureRig('scene', false)
    const turn = await playTurn(rig, files)
    const here = (...args: string[]) => runHere(rig.env, rig.root, args)
    rig.reopen()
    const restore = ['restore', turn]
    let undone: TurnId | null = null
    if (what === 'redo') {
      const { code, json } = await here(...restore)
      expect(code).toBe(0)
      undone = String(json.turn) as TurnId
    }
    const args = what === 'redo' ? ['redo'] : restore
    keep(rig)
    expect(await here(...args)).toMatchObject({ code: 0, json: { verified: true, failed: [] } })
    const after = snapshotTree(rig.root)
    putBack(rig)
    const scene = new RestoreScene(rig, args, { turn, undone }, after)
    expect(differences(scene.before, after).length).toBeGreaterThanOrEqual(files)
    return scene
  }

  get home(): string {
    return join(this.rig.top, 'home')
  }

  putBack(): void {
    putBack(this.rig)
  }

  /** The command in a process of its own, which something happens to. */
  start(plan: Omit<StepPlan, 'folders'>): SpawnSyncReturns<string> {
    const steps: StepPlan = { folders: [this.home, this.rig.root], ...plan }
    return spawnSync(process.execPath, ['--import', STEPS, '--import', CACHE, MAIN, ...this.args, '--json'], {
      cwd: this.rig.root,
      env: { ...this.rig.env, TURNBACK_TEST_STEP: JSON.stringify(steps) },
      encoding: 'utf8',
    })
  }

  /** All that the command does when nothing disturbs it. */
  listSteps(): Step[] {
    this.putBack()
    const list = join(this.rig.top, 'steps.json')
    const { status, stderr } = this.start({ list })
    expect(status, stderr).toBe(0)
    return JSON.parse(readFileSync(list, 'utf8')) as Step[]
  }

  async run(...args: readonly string[]): Promise<{ code: number; report: RestoreReport }> {
    const { code, json } = await runHere(this.rig.env, this.rig.root, args)
    return { code, report: json as unknown as RestoreReport }
  }

  look(): TreeSnapshot {
    return snapshotTree(this.rig.root)
  }

  /**
   * What is neither as it was nor as it is to be, whole in either case, and what is not as a person left it. A file that
   * was on its way out may lie beside its place; one that changes its kind may be away for a moment.
   */
  listFaults(): string[] {
    const now = this.look()
    const mixed = [...now]
      .filter(([path, what]) => !isTemp(path) && !what.startsWith('folder'))
      .filter(([path, what]) => this.before.get(path) !== what && this.after.get(path) !== what)
      .map(([path]) => `${path} is mixed`)
    const lost = MINE.filter((path) => now.get(path) !== this.before.get(path)).map(
      (path) => `${path} is not as its owner left it`,
    )
    return [...mixed, ...lost]
  }

  /** Gives the command again, or another that is said to come to the same, and looks at everything then. */
  async finish(why: string, args: readonly string[] = this.args): Promise<RestoreReport> {
    const { code, report } = await this.run(...args)
    expect(report, why).toMatchObject({ failed: [] })
    expect([0], `${why}: ${JSON.stringify(report)}`).toContain(code)
    expect(differences(this.after, this.look()), why).toEqual([])
    const { json } = await runHere(this.rig.env, this.rig.root, ['verify'])
    expect(json, why).toMatchObject({ missing: [], corrupt: [], log: [], packs: [] })
    return report
  }

  dispose(): void {
    this.rig.dispose()
  }
}

export const isTemp = (path: string): boolean => path.includes('.turnback-')

async function playTurn(rig: CaptureRig, files: number): Promise<TurnId> {
  const text = (who: string, i: number) => `${who} ${i}\n`.repeat(100 + (i % 7) * 90)
  const at = (i: number) => `d${i % 3}/f${i}`
  rig.write('mine.txt', 'never touched')
  rig.write('d1/by-hand', 'old')
  rig.write('kind', 'a file')
  rig.write('folder/in.txt', 'in a folder')
  for (let i = 0; i < files; i++) {
    if (i % 6 === 5) {
      mkdirSync(rig.at(`d${i % 3}`), { recursive: true })
      symlinkSync('mine.txt', rig.at(at(i)))
    } else if (i % 6 !== 3) rig.write(at(i), text('old', i))
  }
  rig.write('ro/in', 'old', 0o444)
  chmodSync(rig.at('ro'), 0o555)
  await rig.init()
  const turn = await rig.begin()
  for (let i = 0; i < files; i++) {
    const path = rig.at(at(i))
    if (i % 6 === 2) rmSync(path)
    else if (i % 6 === 4) chmodSync(path, 0o755)
    else if (i % 6 === 5) {
      rmSync(path)
      symlinkSync('kind', path)
    } else rig.write(at(i), text('agent', i))
  }
  rmSync(rig.at('kind'))
  mkdirSync(rig.at('kind'))
  rmSync(rig.at('folder'), { recursive: true })
  rig.write('folder', 'a file now')
  rig.write('made/new', 'agent')
  rig.write('empty/new', 'agent')
  rig.write('d1/by-hand', 'agent')
  chmodSync(rig.at('ro'), 0o755)
  rmSync(rig.at('ro/in'))
  rig.write('ro/in', 'agent', 0o444)
  chmodSync(rig.at('ro'), 0o555)
  await rig.end()
  rig.write('made/mine', 'by hand')
  rig.write('d0/mine-later', 'by hand')
  rig.write('d1/by-hand', 'agent, and then a hand')
  return turn
}

function keep(rig: CaptureRig): void {
  rig.reopen()
  for (const name of ['home', 'tree']) {
    mkdirSync(join(rig.top, 'kept'), { recursive: true })
    copy(join(rig.top, name), join(rig.top, 'kept', name))
  }
}

/** The root itself stays: it is known by its inode. */
function putBack(rig: CaptureRig): void {
  rig.reopen()
  if (process.getuid?.() !== 0) spawnSync('chmod', ['-R', 'u+rwX', rig.root])
  for (const name of readdirSync(rig.root)) rmSync(join(rig.root, name), { recursive: true, force: true })
  rmSync(join(rig.top, 'home'), { recursive: true, force: true })
  for (const name of ['home', 'tree']) copy(join(rig.top, 'kept', name), join(rig.top, name))
}

function copy(from: string, to: string): void {
  mkdirSync(to, { recursive: true })
  const { status, stderr } = spawnSync('cp', ['-a', `${from}/.`, to], { encoding: 'utf8' })
  expect(status, stderr).toBe(0)
}
