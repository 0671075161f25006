import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { AgentName } from '#adapters/adapter.ts'
import type { ResidentRig } from './resident-rig.ts'

const FOLDER = new URL('../golden/hooks/', import.meta.url).pathname

export interface Places {
  readonly tree: string
  readonly home: string
}

type Fields = Readonly<Record<string, unknown>>

/** One payload of an agent, with this test's folders in it and some fields changed. */
export function golden(agent: AgentName, name: string, { tree, home }: Places, changed: Fields = {}): Fields {
  const text = readFileSync(`${FOLDER}${agent}/${name}.json`, 'utf8')
    .replaceAll('$TREE', tree)
    .replaceAll('$HOME', home)
  return { ...JSON.parse(text), ...changed }
}

/** For agents whose payloads do not name their event. */
const EVENT_WORDS: Readonly<Record<string, string>> = {
  prompt: 'userPromptSubmitted',
  stop: 'agentStop',
  'session-start': 'sessionStart',
  'session-end': 'sessionEnd',
}
const SESSION_FIELDS: Readonly<Record<AgentName, string>> = {
  'claude-code': 'session_id',
  codex: 'session_id',
  opencode: 'sessionID',
  'gemini-cli': 'session_id',
  'copilot-cli': 'sessionId',
  cursor: 'conversation_id',
}

let made = 0

/** A fresh tree, and an agent that works in it by hand. */
export class HookScene {
  readonly rig: ResidentRig
  readonly agent: AgentName
  readonly session: string
  readonly tree: string
  /** Fields of every payload. */
  always: Fields = {}
  env: Readonly<Record<string, string>> = {}

  constructor(rig: ResidentRig, agent: AgentName) {
    this.rig = rig
    this.agent = agent
    this.session = `session-${++made}`
    this.tree = join(rig.top, `tree-${made}`)
    mkdirSync(this.tree)
    this.write('kept.txt', 'one\n')
    this.write('gone.txt', 'gone\n')
    this.write('.env', 'KEY=1\n')
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.tree, name), text)
  }

  contents(): Record<string, string> {
    return Object.fromEntries(
      readdirSync(this.tree).map((name) => [name, readFileSync(join(this.tree, name), 'utf8')]),
    )
  }

  /** Says what `name` says. @returns what the hook printed */
  async hook(name: string, changed: Fields = {}): Promise<string> {
    const { agent, tree, rig } = this
    const fields = { [SESSION_FIELDS[agent]]: this.session, ...this.always, ...changed }
    const payload = golden(agent, name, { tree, home: join(rig.top, 'user') }, fields)
    const word = agent === 'copilot-cli' && name in EVENT_WORDS ? [EVENT_WORDS[name] ?? ''] : []
    const input = JSON.stringify(payload)
    const options = { cwd: tree, input, env: this.env }
    const { code, stdout, stderr } = await rig.run(['hook', agent, ...word], options)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    return stdout.toString()
  }

  json(...words: string[]): Promise<Record<string, unknown>> {
    return this.rig.json(words, { cwd: this.tree })
  }

  /** A turn that writes, edits, removes by a command, and changes a secret on the way. */
  async work(): Promise<void> {
    await this.hook('prompt')
    await this.hook('write-before')
    this.write('made.txt', 'made\n')
    await this.hook('write-after')
    await this.hook('edit-before')
    this.write('kept.txt', 'two\n')
    await this.hook('edit-after')
    await this.hook('shell-before')
    rmSync(join(this.tree, 'gone.txt'))
    this.write('.env', 'KEY=2\n')
    await this.hook('shell-after')
  }
}

export function sourcesOf(manifest: Record<string, unknown>): Record<string, string> {
  const { entries } = manifest
  if (!Array.isArray(entries)) throw new Error('no entries')
  return Object.fromEntries(entries.map(({ path, source }) => [path, source]))
}
