import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import {
  type FilePatch,
  type Preview,
  type RestoreReport,
  type TurnId,
  type UndoneMark,
  undoneMarks,
} from '@turnback/core'
import { firstCapture, registerWorkspace } from '#capture/register.ts'
import { beginTurn, endTurn } from '#capture/turns.ts'
import { changesOfTurn, patchesOf } from '#cli/turn-diff.ts'
import { type ClientDeps, openDeps } from '#deps.ts'
import type { TurnRow, Workspace } from '#ports.ts'
import { type RestoreAsk, type Target, WHOLE_TURNS } from '#restore/ask.ts'
import { executeRestore } from '#restore/execute.ts'
import { listRestoreFacts } from '#restore/facts.ts'
import { previewRestore } from '#restore/preview.ts'
import { treeRootOf } from '#worktree/anchored.ts'
import { snapshotTree, type TreeSnapshot } from './tree-snapshot.ts'

type Options = Partial<RestoreAsk['options']>
type Manner = Partial<Pick<RestoreAsk, 'token' | 'allowHeadChange' | 'closeOpen' | 'dryRun'>>

/** A workspace in a temporary folder with a real store, and the words of the tests for what is done in it. */
export interface Rig {
  readonly top: string
  readonly root: string
  readonly home: string
  readonly deps: ClientDeps
  readonly workspace: Workspace
  put(path: string, text: string, mode?: number): void
  read(path: string): string
  /** Paths of all files and links below the root, sorted. */
  list(): string[]
  snapshot(): TreeSnapshot
  begin(session: string): Promise<TurnId>
  end(session: string): Promise<void>
  turn(session: string, work: () => void): Promise<TurnId>
  preview(turn: TurnId, options?: Options): Promise<Preview>
  restore(turn: TurnId, options?: Options, manner?: Manner): Promise<RestoreReport>
  undo(): Promise<RestoreReport>
  redo(): Promise<RestoreReport>
  turns(): TurnRow[]
  undone(turn: TurnId): UndoneMark
  diff(turn: TurnId): FilePatch[]
  passMinutes(minutes: number): void
  close(): void
}

export async function openRig(): Promise<Rig> {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'restore-')))
  const root = join(top, 'w')
  mkdirSync(root)
  return attachRig(top)
}

/** The rig over a folder that another rig, or another process, has made. */
export async function attachRig(
  top: string,
  change: (deps: ClientDeps) => ClientDeps = (deps) => deps,
): Promise<Rig> {
  const root = join(top, 'w')
  const home = join(top, 'home')
  let aheadMs = 0
  const deps = change(openDeps({ TURNBACK_HOME: home }, { clock: { nowMs: () => Date.now() + aheadMs } }))
  const workspace = registerWorkspace(deps, { ...treeRootOf(root), name: 'w' }, null)
  const begin = async (session: string): Promise<TurnId> => {
    await firstCapture(deps, workspace, false)
    return deps.leases.run(workspace, 'capture', async (lease) => {
      const request = { session, key: null, kind: 'agent', agent: null, prompt: null, task: null } as const
      const manner = { agentPid: null, lateStart: false, deadlineMs: null }
      return (await beginTurn(deps, lease, workspace, { ...request, ...manner })).turn
    })
  }
  const end = async (session: string): Promise<void> => {
    await deps.leases.run(workspace, 'capture', (lease) =>
      endTurn(deps, lease, workspace, { session, key: null, reason: 'completed', lastMessage: null }),
    )
  }
  const ask = (target: Target, options: Options = {}, manner: Manner = {}): RestoreAsk => ({
    workspace,
    target,
    options: { ...WHOLE_TURNS, ...options },
    allowHeadChange: false,
    closeOpen: false,
    dryRun: false,
    token: null,
    restore: null,
    requestedBy: { kind: 'local', name: 'test' },
    ...manner,
  })
  return {
    ...{ top, root, home, deps, workspace, begin, end },
    put(path, text, mode) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), text)
      if (mode !== undefined) chmodSync(join(root, path), mode)
    },
    read: (path) => readFileSync(join(root, path), 'utf8'),
    list: () =>
      readdirSync(root, { recursive: true, withFileTypes: true })
        .filter((entry) => !entry.isDirectory())
        .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
        .sort(),
    snapshot: () => snapshotTree(root),
    async turn(session, work) {
      const turn = await begin(session)
      work()
      await end(session)
      return turn
    },
    async preview(turn, options) {
      return (await previewRestore(deps, ask({ kind: 'turn', turn }, options))).preview
    },
    restore: (turn, options, manner) => executeRestore(deps, ask({ kind: 'turn', turn }, options, manner)),
    undo: () => executeRestore(deps, ask({ kind: 'undo', session: null })),
    redo: () => executeRestore(deps, ask({ kind: 'redo' })),
    turns: () => deps.log.listTurns(workspace.id),
    undone: (turn) => undoneMarks(listRestoreFacts(deps, workspace)).get(turn) ?? 'no',
    diff(turn) {
      const row = deps.log.findTurn(turn)
      const onLost = (_: string, fault: Error): never => {
        throw fault
      }
      return row === null ? [] : patchesOf(deps, changesOfTurn(deps, workspace, row), [], onLost)
    },
    passMinutes(minutes) {
      aheadMs += minutes * 60_000
    },
    close() {
      deps.close()
      rmSync(top, { recursive: true, force: true })
    },
  }
}
