import type { OwnEnd } from '@turnback/core'
import { type Message, promptOf, type Update } from './message.ts'
import { ToolCalls, type ToolNews } from './tool-calls.ts'

/** What is to be recorded. */
export type Act =
  | { readonly type: 'begin'; readonly turn: TurnName; readonly prompt: string | null }
  | { readonly type: 'tool'; readonly turn: TurnName; readonly news: ToolNews }
  | { readonly type: 'end'; readonly turn: TurnName; readonly reason: OwnEnd }
  /** The agent is gone, and said no end. */
  | { readonly type: 'lost'; readonly turn: TurnName }

export interface TurnName {
  readonly session: string
  readonly key: string
  readonly folder: string
}

interface Session {
  readonly id: string
  folder: string
  /** The turn that is open, or null. */
  turn: TurnName | null
  /** Prompts that are not answered yet, the running one first. */
  readonly prompts: { readonly id: string; readonly text: string }[]
  /** The person asked for the end of the running turn. */
  isCancelled: boolean
  /** Version 2: the agent took the prompt, or said that it works. */
  isUnderWay: boolean
  /** Its past is being told again: no news. */
  isReplaying: boolean
  readonly tools: ToolCalls
}

/** An editor's request that is not answered yet. */
type Asked =
  | { readonly kind: 'initialize' }
  | { readonly kind: 'prompt'; readonly session: string }
  /** A session is made, or gone on with; `session` is null until the answer names it. */
  | { readonly kind: 'open'; readonly session: string | null; readonly folder: string | null }
  | { readonly kind: 'close'; readonly session: string }

/** What an agent has the editor do for it, and the news of its end. */
interface Service {
  readonly session: string
  readonly news: ToolNews
}

/** An agent's request that is not answered yet. */
type Served =
  | { readonly kind: 'write'; readonly service: Service }
  /** The answer names the terminal, whose command goes on. */
  | { readonly kind: 'terminal'; readonly service: Service }
  | { readonly kind: 'wait'; readonly terminal: string }

const FAILED: ReadonlySet<string> = new Set(['refusal', 'max_tokens', 'max_turn_requests', 'error'])
/** So many unanswered requests are remembered. */
const REMEMBERED = 1000

/**
 * Follows what an editor and an agent say to each other, and tells what of it is to be recorded. It knows no clock and
 * does nothing by itself.
 */
export class Conversation {
  readonly #folder: string
  readonly #makeKey: () => string
  readonly #sessions = new Map<string, Session>()
  readonly #asked = new Map<string, Asked>()
  readonly #served = new Map<string, Served>()
  readonly #terminals = new Map<string, Service>()
  #isSecondVersion = false
  #agent: string | null = null

  /**
   * @param folder where sessions work that do not say it
   * @param makeKey names a turn, never twice the same
   */
  constructor(folder: string, makeKey: () => string) {
    this.#folder = folder
    this.#makeKey = makeKey
  }

  /** As the agent calls itself, or null as long as it did not. */
  get agent(): string | null {
    return this.#agent
  }

  /** @returns what is to be recorded before the agent gets the message */
  fromEditor({ id, method, params, result, error }: Message): Act[] {
    const asks = id === undefined || id === null ? null : JSON.stringify(id)
    if (method === undefined)
      return asks === null ? [] : this.#serviceAnswered(asks, result, error !== undefined)
    const session = params?.sessionId
    switch (method) {
      case 'initialize':
        this.#remember(asks, { kind: 'initialize' })
        return []
      case 'session/prompt':
        if (asks === null || session === undefined) return []
        this.#remember(asks, { kind: 'prompt', session })
        return this.#prompt(this.#get(session), asks, promptOf(params?.prompt))
      case 'session/cancel':
        if (session !== undefined) this.#get(session).isCancelled = true
        return []
      case '$/cancel_request':
        this.#cancel(params?.requestId)
        return []
      case 'session/close':
      case 'session/delete':
        if (session !== undefined) this.#remember(asks, { kind: 'close', session })
        return []
      case 'session/load':
      case 'session/resume':
        if (session !== undefined) this.#get(session).isReplaying = true
        this.#remember(asks, { kind: 'open', session: session ?? null, folder: params?.cwd ?? null })
        return []
      default:
        // session/new, session/fork: whatever makes a session in a folder.
        if (params?.cwd !== undefined)
          this.#remember(asks, { kind: 'open', session: null, folder: params.cwd })
        return []
    }
  }

  /** @returns what is to be recorded before the editor gets the message */
  fromAgent({ id, method, params, result, error }: Message): Act[] {
    const asks = id === undefined || id === null ? null : JSON.stringify(id)
    const session = params?.sessionId
    switch (method) {
      case undefined: {
        const asked = asks === null ? undefined : this.#asked.get(asks)
        if (asks === null || asked === undefined) return []
        this.#asked.delete(asks)
        return this.#answered(asked, asks, result, error !== undefined)
      }
      case 'session/update':
        return session === undefined || params?.update === undefined
          ? []
          : this.#update(this.#get(session), params.update)
      case 'fs/write_text_file': {
        const paths = params?.path === undefined ? [] : [params.path]
        return this.#serve(asks, session, 'write', { tool: method, command: null, paths })
      }
      case 'terminal/create': {
        const command = [params?.command ?? '', ...(params?.args ?? [])].join(' ')
        return this.#serve(asks, session, 'terminal', { tool: method, command, paths: [] })
      }
      case 'terminal/wait_for_exit':
        if (asks !== null && params?.terminalId !== undefined)
          this.#rememberServed(asks, { kind: 'wait', terminal: params.terminalId })
        return []
      case 'terminal/kill':
      case 'terminal/release':
        return this.#endTerminal(params?.terminalId)
      default:
        return []
    }
  }

  /** The agent is gone. @param wasTold that it was to end: by a signal that somebody sent it through us */
  ended(wasTold: boolean): Act[] {
    return [...this.#sessions.values()].flatMap((session): Act[] => {
      const { turn, isCancelled } = session
      if (turn === null) return []
      session.turn = null
      return wasTold || isCancelled
        ? [{ type: 'end', turn, reason: 'interrupted' }]
        : [{ type: 'lost', turn }]
    })
  }

  #get(id: string): Session {
    const found = this.#sessions.get(id)
    if (found !== undefined) return found
    const made: Session = {
      id,
      folder: this.#folder,
      turn: null,
      prompts: [],
      isCancelled: false,
      isUnderWay: false,
      isReplaying: false,
      tools: new ToolCalls(),
    }
    this.#sessions.set(id, made)
    return made
  }

  #remember(asks: string | null, asked: Asked): void {
    if (asks === null) return
    forgetOldest(this.#asked)
    this.#asked.set(asks, asked)
  }

  #prompt(session: Session, id: string, text: string): Act[] {
    // What is said into a running turn belongs to it; one that a stray tool opened is over.
    const isRunning = session.turn !== null && (session.prompts.length > 0 || session.isUnderWay)
    session.prompts.push({ id, text })
    return isRunning ? [] : [this.#begin(session, text)]
  }

  #begin(session: Session, prompt: string | null): Act {
    const turn = { session: session.id, key: this.#makeKey(), folder: session.folder }
    session.turn = turn
    session.isCancelled = false
    session.isUnderWay = false
    session.tools.clear()
    return { type: 'begin', turn, prompt }
  }

  #cancel(request: string | number | undefined): void {
    const asked = request === undefined ? undefined : this.#asked.get(JSON.stringify(request))
    if (asked?.kind === 'prompt') this.#get(asked.session).isCancelled = true
  }

  #answered(asked: Asked, id: string, result: Message['result'], isError: boolean): Act[] {
    switch (asked.kind) {
      case 'initialize':
        this.#isSecondVersion = (result?.protocolVersion ?? 1) >= 2
        this.#agent = result?.agentInfo?.name ?? null
        return []
      case 'open': {
        if (asked.session !== null) this.#get(asked.session).isReplaying = false
        const opened = result?.sessionId ?? asked.session
        if (opened !== null && asked.folder !== null && !isError) this.#get(opened).folder = asked.folder
        return []
      }
      case 'close': {
        const session = this.#sessions.get(asked.session)
        if (isError || session === undefined) return []
        this.#sessions.delete(asked.session)
        return session.turn === null ? [] : [{ type: 'end', turn: session.turn, reason: 'interrupted' }]
      }
      case 'prompt':
        return this.#promptAnswered(this.#get(asked.session), id, result?.stopReason, isError)
    }
  }

  #promptAnswered(session: Session, id: string, stop: string | undefined, isError: boolean): Act[] {
    const at = session.prompts.findIndex((prompt) => prompt.id === id)
    if (at >= 0) session.prompts.splice(at, 1)
    if (this.#isSecondVersion) {
      // It was taken; the end is told by the session's state. One that was refused before any work ends at once.
      if (!isError) session.isUnderWay = true
      else if (!session.isUnderWay && session.prompts.length === 0) return this.#end(session, 'failed')
      return []
    }
    if (isError) return this.#end(session, session.isCancelled ? 'interrupted' : 'failed')
    return this.#end(session, reasonOf(stop, session.isCancelled))
  }

  /** Ends the turn; a prompt that waited for that is the next. */
  #end(session: Session, reason: OwnEnd): Act[] {
    const { turn } = session
    session.turn = null
    session.tools.clear()
    const [next] = session.prompts
    return [
      ...(turn === null ? [] : [{ type: 'end', turn, reason } as const]),
      ...(next === undefined ? [] : [this.#begin(session, next.text)]),
    ]
  }

  #update(session: Session, update: Update): Act[] {
    if (session.isReplaying) return []
    if (update.sessionUpdate === 'state_update') return this.#state(session, update)
    const told = session.tools.read(update)
    return told.flatMap((news) => this.#tool(session, news))
  }

  /** Version 2. What an agent begins on its own is a turn too. */
  #state(session: Session, { state, stopReason }: Update): Act[] {
    switch (state) {
      case 'running':
      case 'requires_action': {
        const begun = session.turn === null ? [this.#begin(session, null)] : []
        session.isUnderWay = true
        return begun
      }
      case 'idle':
        // One that comes before the work begins tells of the last one again.
        if (session.turn === null || !session.isUnderWay) return []
        session.prompts.length = 0
        return this.#end(session, reasonOf(stopReason, session.isCancelled))
      default:
        return []
    }
  }

  /** A tool that works while no turn is open opens one: it is not known what asked for it. */
  #tool(session: Session, news: ToolNews): Act[] {
    if (session.turn === null && news.type === 'tool.after') return []
    const begun = session.turn === null ? [this.#begin(session, null)] : []
    const { turn } = session
    return turn === null ? begun : [...begun, { type: 'tool', turn, news }]
  }

  #serve(
    asks: string | null,
    session: string | undefined,
    kind: 'write' | 'terminal',
    news: Omit<ToolNews, 'type'>,
  ): Act[] {
    if (asks === null || session === undefined) return []
    this.#rememberServed(asks, { kind, service: { session, news: { type: 'tool.after', ...news } } })
    return this.#tool(this.#get(session), { type: 'tool.before', ...news })
  }

  #rememberServed(asks: string, served: Served): void {
    forgetOldest(this.#served)
    this.#served.set(asks, served)
  }

  #serviceAnswered(asks: string, result: Message['result'], isError: boolean): Act[] {
    const served = this.#served.get(asks)
    this.#served.delete(asks)
    switch (served?.kind) {
      case undefined:
        return []
      case 'wait':
        return this.#endTerminal(served.terminal)
      case 'terminal': {
        const { service } = served
        const terminal = result?.terminalId
        if (isError || terminal === undefined) return this.#tool(this.#get(service.session), service.news)
        forgetOldest(this.#terminals)
        this.#terminals.set(terminal, service)
        return []
      }
      case 'write':
        return this.#tool(this.#get(served.service.session), served.service.news)
    }
  }

  #endTerminal(id: string | undefined): Act[] {
    const service = id === undefined ? undefined : this.#terminals.get(id)
    if (id === undefined || service === undefined) return []
    this.#terminals.delete(id)
    return this.#tool(this.#get(service.session), service.news)
  }
}

function reasonOf(stop: string | undefined, isCancelled: boolean): OwnEnd {
  if (stop === 'cancelled') return 'interrupted'
  if (stop !== undefined && FAILED.has(stop)) return 'failed'
  return stop === undefined && isCancelled ? 'interrupted' : 'completed'
}

function forgetOldest(requests: Map<string, unknown>): void {
  const oldest = requests.keys().next().value
  if (requests.size >= REMEMBERED && oldest !== undefined) requests.delete(oldest)
}
