import { describe, expect, it } from 'vitest'
import { textFile } from '#testing/index.ts'
import { ABSENT, type DirState, type State } from '#tree/state.ts'
import { orderSteps, type UnorderedStep } from './order.ts'
import { ALL_DONE, settleRestore } from './outcome.ts'
import { previewOf } from './preview.ts'
import type { PlanStep, RestorePlan } from './restore-plan.ts'
import { isSensitiveChange, isSensitivePath } from './sensitive.ts'
import { changedPaths, planToken, tokenBytes } from './token.ts'

const dir: DirState = { kind: 'dir', mode: 0o755 }
const a = textFile('a\n')
const b = textFile('b\n')

function step(path: string, from: State, to: State, list: PlanStep['list']): PlanStep {
  const popped = [{ path, turn: 't_1' as const, scan: 1 }]
  return { path, from, to, phase: 'create', list, effect: { popped, putBack: [], pushed: null } }
}

const plan: RestorePlan = {
  target: 't_1',
  scope: 'from-turn',
  exact: false,
  onConflict: 'keep',
  paths: null,
  takenBack: null,
  refusal: null,
  steps: [
    step('a', b, a, 'restored'),
    step('n', b, ABSENT, 'deleted'),
    step('d', dir, ABSENT, 'directories.deleted'),
  ],
  settled: [
    { path: 's', effect: { popped: [{ path: 's', turn: 't_1', scan: 1 }], putBack: [], pushed: null } },
  ],
  kept: [{ path: 'k', reason: 'changed-after-turn', turn: 't_2' }],
  keptDirectories: [],
  skipped: [{ path: 'z', reason: 'too-large' }],
  conflicts: [{ path: 'k', reason: 'changed-after-turn', turn: 't_2' }],
  turns: ['t_1'],
  undoes: ['t_1'],
  alsoUndoes: [{ path: 'n', turn: 't_2' }],
  seen: [
    { path: 'a', state: b },
    { path: 'n', state: b },
  ],
}

describe('settleRestore', () => {
  it('all done: lists, what was popped, the mark', () => {
    const settled = settleRestore(plan, ALL_DONE, new Map())
    expect(settled.status).toBe('done')
    expect(settled.of).toEqual(['t_1'])
    expect(settled.stack.popped.map((ref) => ref.path)).toEqual(['s', 'a', 'n', 'd'])
    expect(settled.lists).toMatchObject({ restored: ['a'], deleted: ['n'], unchanged: 1 })
    expect(settled.lists.directories).toEqual({ restored: [], deleted: ['d'], kept: [] })
  })

  it('what failed or was kept late has no effect on its stack and stands in one list only', () => {
    const failed = [{ path: 'a', code: 'EACCES', reason: 'not allowed' }]
    const outcomes = {
      failed,
      kept: [{ path: 'n', reason: 'changed-after-turn' as const }],
      keptDirectories: ['d'],
      lost: [{ path: 'a', what: 'owner' as const }],
    }
    const settled = settleRestore(plan, outcomes, new Map())
    expect(settled.status).toBe('partly-done')
    expect(settled.stack.popped.map((ref) => ref.path)).toEqual(['s'])
    expect(settled.lists.restored).toEqual([])
    expect(settled.lists.kept.map((item) => item.path)).toEqual(['k', 'n'])
    expect(settled.lists.directories.kept).toEqual(['d'])
    expect(settled.lists.alsoUndone).toEqual([])
    expect(settled.lists).not.toHaveProperty('lost')
    expect(settled.of, 'partly is a mark too').toEqual(['t_1'])
    expect(settleRestore(plan, outcomes, new Map([['t_1', 'partly']])).of).toEqual([])
  })

  it('limited to paths, a turn is marked only when something of it came to its state', () => {
    const of2 = {
      ...step('x', b, a, 'restored'),
      effect: { popped: [{ path: 'x', turn: 't_2' as const, scan: 2 }], putBack: [], pushed: null },
    }
    const limited = {
      ...plan,
      paths: ['a', 'x'],
      turns: ['t_1', 't_2', 't_3'] as const,
      undoes: ['t_1', 't_2', 't_3'] as const,
      losses: [
        { path: 'a', turns: ['t_1'] as const },
        { path: 'x', turns: ['t_2', 't_3'] as const },
      ],
      steps: [step('a', b, a, 'restored'), of2],
      settled: [],
    }
    expect(settleRestore(limited, ALL_DONE, new Map()).of).toEqual(['t_1', 't_2', 't_3'])
    const failed = { ...ALL_DONE, failed: [{ path: 'x', code: 'EIO', reason: 'disk' }] }
    expect(settleRestore(limited, failed, new Map()).of, 'nor of one that shares it').toEqual(['t_1'])
  })

  it('nothing done and something failed is failed; nothing to move is nothing to do; a refusal is refused', () => {
    const one = { ...plan, steps: plan.steps.slice(0, 1), settled: [] }
    const failed = { ...ALL_DONE, failed: [{ path: 'a', code: 'EIO', reason: 'disk' }] }
    expect(settleRestore(one, failed, new Map())).toMatchObject({ status: 'failed', of: [] })
    const nothing = settleRestore({ ...plan, steps: [], settled: [] }, ALL_DONE, new Map())
    expect(nothing).toMatchObject({ status: 'nothing-to-do', of: ['t_1'] })
    const refused = { ...plan, refusal: 'CONFLICTS' as const, steps: [], settled: [] }
    expect(settleRestore(refused, ALL_DONE, new Map())).toMatchObject({ status: 'refused', of: [] })
  })
})

describe('the token', () => {
  const sha256 = (bytes: Uint8Array): string => String.fromCharCode(...bytes)
  const head = { head: 'abc', branch: 'main' }

  it('is bound to bytes, modes, link targets, HEAD and branch, and not to the order of keys', () => {
    const token = planToken(plan, head, sha256)
    const seen = (state: State): RestorePlan => ({
      ...plan,
      seen: [{ path: 'a', state }, ...plan.seen.slice(1)],
    })
    expect(planToken(JSON.parse(JSON.stringify(plan)), head, sha256)).toBe(token)
    const { seen: last, ...first } = plan
    expect(planToken({ seen: last, ...first }, head, sha256)).toBe(token)
    const others = [
      planToken(seen(a), head, sha256),
      planToken(seen({ ...b, mode: 0o755 }), head, sha256),
      planToken(seen({ kind: 'symlink', target: 'x' }), head, sha256),
      planToken(seen({ kind: 'symlink', target: 'y' }), head, sha256),
      planToken(plan, { ...head, head: 'abd' }, sha256),
      planToken(plan, { ...head, branch: null }, sha256),
      planToken({ ...plan, onConflict: 'save' }, head, sha256),
    ]
    expect(new Set([token, ...others]).size).toBe(8)
    expect(tokenBytes(plan, head).length).toBeGreaterThan(100)
  })

  it('when stale, the changed paths are named', () => {
    const now = {
      ...plan,
      seen: [
        { path: 'a', state: a },
        { path: 'q', state: a },
      ],
    }
    expect(changedPaths(plan, now)).toEqual(['a', 'n', 'q'])
    expect(changedPaths(plan, plan)).toEqual([])
    // Bytes that went and came back look the same, but somebody else's change may lie on the path now.
    expect(changedPaths(plan, { ...plan, steps: [] })).toEqual(plan.steps.map((step) => step.path).sort())
    expect(plan.steps.length).toBeGreaterThan(0)
  })
})

describe('orderSteps', () => {
  it('makes room, creates, deletes, removes directories, and closes directories last', () => {
    const closed: DirState = { kind: 'dir', mode: 0o500 }
    const steps = [
      step('ro', dir, closed, 'directories.restored'),
      step('e', dir, ABSENT, 'directories.deleted'),
      step('e/f', dir, ABSENT, 'directories.deleted'),
      step('e/f/x', a, ABSENT, 'deleted'),
      step('conf', dir, a, 'restored'),
      step('conf/d', dir, ABSENT, 'directories.deleted'),
      step('conf/d/x', a, ABSENT, 'deleted'),
      step('new/x', ABSENT, a, 'restored'),
      step('new', ABSENT, dir, 'directories.restored'),
      step('ro/x', b, a, 'restored'),
    ]
    expect(orderSteps(steps).map((item) => `${item.phase} ${item.path}`)).toEqual([
      'room conf/d/x',
      'room conf/d',
      'create conf',
      'create new',
      'create new/x',
      'create ro/x',
      'delete e/f/x',
      'rmdir e/f',
      'rmdir e',
      'modes ro',
    ])
  })
})

describe('orderSteps, for the files of a database', () => {
  const order = (...steps: UnorderedStep[]) => orderSteps(steps).map(({ phase, path }) => `${phase} ${path}`)

  it('has a log go just before its database is written, and come just after', () => {
    const others = [
      step('a', b, a, 'restored'),
      step('app.db-a', b, a, 'restored'),
      step('z', b, ABSENT, 'deleted'),
    ]
    const database = step('app.db', b, a, 'restored')
    const gone = step('app.db-wal', b, ABSENT, 'deleted')
    expect(order(...others, gone, database)).toEqual([
      'create a',
      'create app.db-wal',
      'create app.db',
      'create app.db-a',
      'delete z',
    ])
    const come = step('app.db-journal', ABSENT, b, 'restored')
    expect(order(come, gone, database)).toEqual([
      'create app.db-wal',
      'create app.db',
      'create app.db-journal',
    ])
  })

  it('has a log go before a database that goes too, and leaves folders and lone logs where they stand', () => {
    expect(order(step('d', a, ABSENT, 'deleted'), step('d-wal', a, ABSENT, 'deleted'))).toEqual([
      'delete d-wal',
      'delete d',
    ])
    const alone = step('e-wal', a, ABSENT, 'deleted')
    const folder = step('e', ABSENT, dir, 'directories.restored')
    expect(order(alone, folder)).toEqual(['create e', 'delete e-wal'])
  })
})

describe('sensitive paths', () => {
  it('are hooks, CI files, agent and editor settings, manifests, lock files, scripts', () => {
    const sensitive = [
      '.husky/pre-commit',
      '.github/workflows/ci.yml',
      '.gitlab-ci.yml',
      '.claude/settings.json',
      'sub/.vscode/tasks.json',
      '.idea/x.xml',
      'AGENTS.md',
      'package.json',
      'sub/Package.JSON',
      'pnpm-lock.yaml',
      'yarn.lock',
      'Cargo.lock',
      'go.sum',
      'Makefile',
      'deploy.sh',
      'requirements-dev.txt',
      'pyproject.toml',
      'Dockerfile',
      '.envrc',
    ]
    expect(sensitive.filter((path) => !isSensitivePath(path))).toEqual([])
    const plain = [
      'index.html',
      'styles.css',
      'theme.css',
      'app.js',
      '.env',
      'notes.md',
      '.github/ISSUE_TEMPLATE/bug.md',
      'src/makefile.ts',
    ]
    expect(plain.filter(isSensitivePath)).toEqual([])
    expect(isSensitiveChange('run', textFile('x', 0o755), ABSENT)).toBe(true)
    expect(isSensitiveChange('run', ABSENT, textFile('x', 0o755))).toBe(true)
    expect(isSensitiveChange('run', a, b)).toBe(false)
  })
})

describe('previewOf', () => {
  it('shows files by what will happen, with what is sensitive and sealed', () => {
    const sealed: State = { kind: 'file', blob: 's1', sizeBytes: 1, mode: 0o600 }
    const steps = [...plan.steps, step('.env', sealed, a, 'restored'), step('deploy.sh', a, b, 'merged')]
    const preview = previewOf(
      { ...plan, steps },
      { token: 't', irreversible: [], head: { then: null, now: null } },
    )
    expect(preview).toMatchObject({
      restore: ['.env', 'a'],
      delete: ['n'],
      merge: ['deploy.sh'],
      unchanged: 1,
    })
    expect(preview).toMatchObject({ sealed: ['.env'], sensitive: ['deploy.sh'], undoes: ['t_1'] })
    expect(preview.conflicts.map((item) => item.path)).toEqual(['k'])
  })
})
