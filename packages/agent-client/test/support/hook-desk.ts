import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { TurnManifest } from '@turnback/core'
import type { AgentName } from '#adapters/adapter.ts'
import { runCommandLine } from '#cli/run.ts'
import type { TurnRow } from '#ports.ts'
import { CaptureRig } from './capture-rig.ts'
import { golden } from './hook-scene.ts'

export interface Said {
  readonly code: number
  readonly out: string
}

/** The hook command in this process, on real files and a real store: quick enough for many small stories. */
export class HookDesk extends CaptureRig {
  /** The agent's process, as its hooks see it. */
  pid = process.pid

  async command(args: readonly string[], stdin = '', folder = this.root): Promise<Said> {
    let out = ''
    const streams = {
      out(text: string | Uint8Array) {
        out += Buffer.from(text).toString('utf8')
      },
      talk() {},
      readStdin: async () => stdin,
    }
    const caller = { env: this.env, folder, pid: this.pid, isPerson: false }
    return { code: await runCommandLine(args, caller, streams, this.deps), out }
  }

  /** Says one golden payload. @returns what the hook printed */
  async hook(
    agent: AgentName,
    name: string,
    changed: Readonly<Record<string, unknown>> = {},
    event?: string,
  ): Promise<string> {
    const places = { tree: this.root, home: join(this.top, 'user') }
    const payload = JSON.stringify(golden(agent, name, places, changed))
    const { code, out } = await this.command(
      ['hook', agent, ...(event === undefined ? [] : [event])],
      payload,
    )
    if (code !== 0) throw new Error(`exit ${code}`)
    return out
  }

  async json(...args: string[]): Promise<Record<string, unknown>> {
    return JSON.parse((await this.command([...args, '--json'])).out)
  }

  /** All turns but those of nobody, oldest first, in every workspace. */
  turns(): TurnRow[] {
    const { log } = this.deps
    return log
      .listWorkspaces()
      .flatMap(({ id }) => log.listTurns(id))
      .filter(({ kind }) => kind === 'agent')
      .sort((a, b) => (a.startedAt < b.startedAt ? -1 : 1))
  }

  async lastManifest(): Promise<TurnManifest> {
    const turn = this.turns().at(-1)
    if (turn === undefined) throw new Error('no turn')
    const workspace = this.deps.log.findWorkspace(turn.workspace)
    if (workspace !== null) await this.deps.capture.settle(workspace)
    return this.deps.log.getManifest(turn.turn)
  }

  /** Lines of the log in which hooks leave word of trouble. */
  noted(): Record<string, unknown>[] {
    try {
      const text = readFileSync(join(this.deps.home.logs, 'hooks.log'), 'utf8')
      return text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
    } catch {
      return []
    }
  }

  transcript(lines: readonly object[], name = 't.jsonl'): string {
    const path = join(this.top, 'user', name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    return path
  }
}
