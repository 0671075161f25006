import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Entry, RelPath, TurnId, TurnManifest } from '@turnback/core'
import { type EventRequest, noteEvent } from '#capture/note-event.ts'
import { firstCapture, registerWorkspace } from '#capture/register.ts'
import { type BeginRequest, beginTurn, endTurn } from '#capture/turns.ts'
import { type ClientDeps, openDeps } from '#deps.ts'
import type { Workspace } from '#ports.ts'
import { findPlace } from '#worktree/find-root.ts'

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url))
/** What the launcher does too: without it each start compiles everything anew. */
const CACHE = fileURLToPath(new URL('../../../../bin/compile-cache.mjs', import.meta.url))
const START = ['--import', CACHE, MAIN] as const

export interface CommandResult {
  readonly code: number | null
  readonly json: Record<string, unknown>
  readonly stdout: string
  readonly stderr: string
}

/** A folder of files, a home of its own, and the client on both: everything that capture/ does, on real files. */
export class CaptureRig {
  readonly top: string
  root: string
  readonly env: Record<string, string>
  /** Milliseconds that the client's clock is ahead of the real one. */
  aheadMs = 0
  /** How soon after a change a file is read ahead of the turn's end; null as by default. */
  settleMs: number | null = null
  /** Whether the client stays, so that it hears of changes and looks at the whole tree after each turn only. */
  readonly isResident: boolean
  #deps: ClientDeps | null = null
  #workspace: Workspace | null = null

  constructor(name = 'capture', isResident = process.env.TURNBACK_TEST_RESIDENT === '1') {
    this.isResident = isResident
    this.top = realpathSync(mkdtempSync(join(tmpdir(), `turnback-${name}-`)))
    this.root = join(this.top, 'tree')
    mkdirSync(this.root)
    mkdirSync(join(this.top, 'user'))
    this.env = {
      PATH: process.env.PATH ?? '',
      HOME: join(this.top, 'user'),
      TURNBACK_HOME: join(this.top, 'home'),
      NO_COLOR: '1',
    }
  }

  get deps(): ClientDeps {
    this.#deps ??= openDeps(this.env, {
      clock: { nowMs: () => Date.now() + this.aheadMs },
      isResident: this.isResident,
      ...(this.settleMs === null ? {} : { settleMs: this.settleMs }),
    })
    return this.#deps
  }

  get workspace(): Workspace {
    if (this.#workspace === null) throw new Error('not registered yet')
    return this.#workspace
  }

  at(path: string): string {
    return join(this.root, path)
  }

  /** Goes on in another folder, with the same client and store. */
  useTree(name: string): void {
    this.root = join(this.top, name)
    mkdirSync(this.root)
    this.#workspace = null
  }

  write(path: string, content: string | Uint8Array = path, mode?: number): void {
    mkdirSync(dirname(this.at(path)), { recursive: true })
    writeFileSync(this.at(path), content)
    if (mode !== undefined) chmodSync(this.at(path), mode)
  }

  async init(): Promise<Workspace> {
    this.#workspace = registerWorkspace(this.deps, findPlace(this.root, this.deps.home, this.env, true), null)
    await firstCapture(this.deps, this.#workspace, true)
    return this.#workspace
  }

  async begin(request: Partial<BeginRequest> = {}): Promise<TurnId> {
    return (await this.beginFully(request)).turn
  }

  beginFully(request: Partial<BeginRequest> = {}) {
    const whole = {
      session: 's1',
      key: null,
      kind: 'agent',
      agent: null,
      prompt: null,
      task: null,
      agentPid: null,
      lateStart: false,
      deadlineMs: null,
      ...request,
    } as const
    return this.deps.leases.run(this.workspace, 'capture', (lease) =>
      beginTurn(this.deps, lease, this.workspace, whole),
    )
  }

  end(session = 's1', key: string | null = null) {
    return this.deps.leases.run(this.workspace, 'capture', (lease) =>
      endTurn(this.deps, lease, this.workspace, { session, key, reason: 'completed', lastMessage: null }),
    )
  }

  event(request: Partial<EventRequest> & Pick<EventRequest, 'type'>): Promise<TurnId | null> {
    const whole = {
      session: 's1',
      key: null,
      agent: null,
      tool: null,
      command: null,
      paths: [],
      outside: [],
      agentPid: null,
      parentSession: null,
      reason: 'completed' as const,
      atMs: null,
      withinSeconds: null,
      ...request,
    }
    return noteEvent(this.deps, this.workspace, whole)
  }

  /** One whole turn that does `work`; gives its manifest. */
  async turn(work: () => void, session = 's1'): Promise<TurnManifest> {
    const turn = await this.begin({ session })
    work()
    await this.end(session)
    return this.manifest(turn)
  }

  async manifest(turn: TurnId): Promise<TurnManifest> {
    if (this.isResident) await this.waitForAudit(turn)
    await this.deps.capture.settle(this.workspace)
    return this.deps.log.getManifest(turn)
  }

  /** Until the resident client has looked at the whole tree and signed the turn. */
  async waitForAudit(turn: TurnId): Promise<void> {
    const row = this.deps.log.findTurn(turn)
    // Only an end that the agent gave is followed by an audit.
    if (row === null || row.isOpen || row.endReason === 'superseded' || row.endReason === 'lost') return
    while (!this.deps.captureLog.isSigned(turn)) await new Promise((done) => setTimeout(done, 5))
  }

  read(entry: Entry, side: 'before' | 'after'): string | null {
    const state = entry[side]
    return state.kind === 'file' ? Buffer.from(this.deps.blobs.read(state.blob)).toString('utf8') : null
  }

  /** Forgets what this process knows, as a new one would. */
  reopen(): void {
    this.#deps?.close()
    this.#deps = null
  }

  /** Runs the command line in a process of its own. */
  run(
    args: readonly string[],
    options: { readonly cwd?: string; readonly uid?: number; readonly input?: string } = {},
  ): CommandResult {
    const { status, stdout, stderr } = spawnSync(process.execPath, [...START, ...args], {
      cwd: options.cwd ?? this.root,
      env: this.env,
      encoding: 'utf8',
      ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
      ...(options.input === undefined ? {} : { input: options.input }),
    })
    const isObject = stdout.trimStart().startsWith('{')
    return { code: status, json: isObject ? JSON.parse(stdout) : {}, stdout, stderr }
  }

  /** Starts the command line without waiting for it. */
  spawn(args: readonly string[]): ChildProcess {
    return spawn(process.execPath, [...START, ...args], { cwd: this.root, env: this.env, stdio: 'ignore' })
  }

  dispose(): void {
    this.reopen()
    // What tests closed is opened again, so that it can be removed.
    spawnSync('chmod', ['-R', 'u+rwX', this.top])
    rmSync(this.top, { recursive: true, force: true })
  }
}

export function entryOf(manifest: TurnManifest, path: RelPath): Entry {
  const found = manifest.entries.find((entry) => entry.path === path)
  if (found === undefined)
    throw new Error(`no entry for ${path}: ${manifest.entries.map((each) => each.path).join(' ')}`)
  return found
}

/** `path: before → after` by kinds, sorted: what a turn did, at a glance. */
export function outline(manifest: TurnManifest): string[] {
  return manifest.entries.map(({ path, before, after }) => `${path}: ${kindOf(before)} → ${kindOf(after)}`)
}

function kindOf(state: Entry['before']): string {
  return state.kind === 'skipped' ? state.reason : state.kind
}

/** A user without rights, for tests that root would see nothing of; undefined when this is one already. */
export const PLAIN_UID = process.getuid?.() === 0 ? 65534 : undefined

/** Whether a disk of any size can be had for a test: only a privileged user can make one. */
export function canMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'turnback-mount-'))
  const mounted = spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', folder]).status === 0
  if (mounted) execFileSync('umount', [folder])
  rmdirSync(folder)
  return mounted
}
