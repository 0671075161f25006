import { isAbsolute, join } from 'node:path'
import { DomainError } from '@turnback/core'
import type { Command } from 'commander'
import { type Environment, findHome } from '#config.ts'
import { type ClientDeps, openDeps } from '#deps.ts'
import type { Workspace } from '#ports.ts'
import { findStoreFault, findSystemFault } from '#unusable.ts'
import { findWorkspaceAround, realFolder } from '#worktree/find-root.ts'
import { EXIT, exitOf } from './exit-code.ts'
import { showProgress } from './first-progress.ts'
import { inPlainLines, onOneLine } from './visible.ts'

export interface Streams {
  out(text: string | Uint8Array): void
  /** Talk: progress, warnings, errors. Never what a program reads. */
  talk(text: string): void
  /** @param limitMs what came until then is all there is */
  readStdin(limitMs?: number): Promise<string>
}

/** Who runs a command, and from where. */
export interface Caller {
  readonly env: Environment
  readonly folder: string
  /** The process that started the command: the agent, or a shell of it. */
  readonly pid: number
  /** Whether a person reads the talk. */
  readonly isPerson: boolean
  /** False once it waits no longer and has the command carried out in another way. */
  isWaiting?(): boolean
}

/** Runs one more command line in this process. @returns the exit code */
export type RunLine = (
  argv: readonly string[],
  caller: Caller,
  streams: Streams,
  opened: ClientDeps | null,
) => Promise<number>

/** Whoever asked for the command has given up on this process, and does it another way. */
class CallerGone extends Error {
  constructor() {
    super('nobody waits for this any more')
    this.name = 'CallerGone'
  }
}

/** One run of the command line. Commands print their result through it, once. */
export class Context {
  readonly caller: Caller
  exitCode: number = EXIT.done
  readonly #streams: Streams
  #options: { readonly C?: string; readonly json?: boolean } = {}
  /** Somebody else's, who closes it. */
  readonly #opened: ClientDeps | null
  #deps: ClientDeps | null = null

  constructor(caller: Caller, streams: Streams, opened: ClientDeps | null = null) {
    this.caller = caller
    this.#streams = streams
    this.#opened = opened
  }

  get env(): Environment {
    return this.caller.env
  }

  /** The process that started the command. */
  get callerPid(): number {
    return this.caller.pid
  }

  /** To be called before something is written down that must not be done twice. @throws CallerGone */
  readonly confirm = (): void => {
    if (this.caller.isWaiting?.() === false) throw new CallerGone()
  }

  /** The options that every command takes, wherever they stand. */
  setOptions(options: { readonly C?: string; readonly json?: boolean }): void {
    this.#options = options
  }

  get isJson(): boolean {
    return this.#options.json === true
  }

  /** The folder that the command runs in, links resolved. @throws USAGE when there is none */
  get folder(): string {
    const given = this.#options.C
    const { folder } = this.caller
    if (given === undefined) return realFolder(folder)
    return realFolder(isAbsolute(given) ? given : join(folder, given))
  }

  /** Opens the store on first use. */
  get deps(): ClientDeps {
    if (this.#opened !== null) return this.#opened
    const onProgress = showProgress((text) => this.#streams.talk(text))
    this.#deps ??= openDeps(this.env, this.caller.isPerson ? { firstCapture: { onProgress } } : {})
    return this.#deps
  }

  /** @throws NO_WORKSPACE */
  getWorkspace(): Workspace {
    const found = this.findWorkspace()
    if (found === null) throw new DomainError('NO_WORKSPACE', { folder: this.folder })
    return found
  }

  findWorkspace(): Workspace | null {
    return findWorkspaceAround(this.folder, this.deps.log.listWorkspaces())
  }

  /** Prints the result: as one JSON object, or in words. */
  print(result: object, words: () => string): void {
    if (this.isJson) {
      this.#streams.out(`${JSON.stringify(result)}\n`)
      return
    }
    const text = inPlainLines(words())
    if (text !== '') this.#streams.out(`${text}\n`)
  }

  /** Prints bytes as they are. */
  printBytes(bytes: Uint8Array): void {
    this.#streams.out(bytes)
  }

  talk(text: string): void {
    this.#streams.talk(`${inPlainLines(text)}\n`)
  }

  readStdin(limitMs?: number): Promise<string> {
    return this.#streams.readStdin(limitMs)
  }

  fail(thrown: unknown, isJson: boolean = this.isJson): void {
    const { config, store, keys, logs } = findHome(this.env)
    const error = findStoreFault(thrown, [config, store, keys, logs]) ?? findSystemFault(thrown) ?? thrown
    if (!(error instanceof DomainError)) {
      this.exitCode = EXIT.failed
      const message = error instanceof Error ? error.message : String(error)
      const code = 'INTERNAL'
      if (isJson) this.#streams.out(`${JSON.stringify({ error: { code, message, details: {} } })}\n`)
      this.talk(`turnback: ${error instanceof Error ? (error.stack ?? message) : message}`)
      return
    }
    this.exitCode = exitOf(error.code)
    const { code, message, details } = error
    if (isJson) this.#streams.out(`${JSON.stringify({ error: { code, message, details } })}\n`)
    else this.talk(inWords(error))
  }

  close(): void {
    this.#deps?.close()
    this.#deps = null
  }
}

function inWords({ code, message, remedy, details }: DomainError): string {
  const facts = Object.entries(details).flatMap(([name, value]) => {
    const text = factInWords(value)
    return text === null || message.includes(text) ? [] : [`  ${name}: ${text}`]
  })
  return [`turnback: ${message} (${code})`, ...facts, remedy].join('\n')
}

/** Null for what is of use to programs only. */
function factInWords(value: unknown): string | null {
  if (typeof value === 'string' && value !== '') return onOneLine(value)
  if (typeof value === 'number') return String(value)
  const isList = Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string')
  return isList ? value.map(onOneLine).join(' ') : null
}

/**
 * A command file exports one of these.
 * @param runLine for the resident client, which carries out the commands of others
 */
export type Register = (program: Command, context: Context, runLine: RunLine) => void
