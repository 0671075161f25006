import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Client, type Manner } from './client.ts'
import { type Corpus, makeCorpus, type Source } from './corpus.ts'
import { Git } from './peers.ts'

export interface Settings {
  readonly checkout: string
  /** Everything that is made lies below; removed at the end. */
  readonly work: string
  readonly rounds: number
  readonly isQuick: boolean
  readonly chosen: readonly Source[]
  readonly ignored: number
  /** Of the chosen files, in the tree that most rows use. */
  readonly copies: number
  readonly hasRestic: boolean
  say(text: string): void
  /** True when this row was asked for. */
  wants(row: string): boolean
}

/** A tree with its git repository and the clients that watch over it. */
export class Stage {
  readonly corpus: Corpus
  readonly git: Git
  readonly settings: Settings
  readonly #clients = new Map<Manner, Client>()
  /** Why a manner can not be measured. */
  readonly #cannot = new Map<Manner, string>()

  constructor(settings: Settings, name: string, copies: number) {
    this.settings = settings
    const root = join(settings.work, name)
    mkdirSync(root)
    this.corpus = makeCorpus(root, settings.chosen, { ignored: settings.ignored, copies })
    this.git = new Git(root)
    const { files, bytes, folders } = this.corpus
    settings.say(`${name}: ${files.length} files, ${(bytes / 1e6).toFixed(1)} MB, ${folders} directories`)
  }

  get root(): string {
    return this.corpus.root
  }

  /** A client that has captured the tree, or why there is none in this manner. */
  async client(manner: Manner): Promise<Client | string> {
    const cannot = this.#cannot.get(manner)
    if (cannot !== undefined) return cannot
    const found = this.#clients.get(manner)
    if (found !== undefined) return found
    const made = this.newClient(manner, join(this.settings.work, `home-${crypto.randomUUID()}`))
    this.#clients.set(manner, made)
    const why = await made.prepare(this.root)
    if (why === null) return made
    made.close(this.root)
    this.#clients.delete(manner)
    this.#cannot.set(manner, why)
    return why
  }

  /** A client with an empty store, that nobody else uses. */
  newClient(manner: Manner, home: string): Client {
    return new Client({ manner, checkout: this.settings.checkout, home })
  }

  /** Ends the residents; the trees go with the folder that they lie in. */
  close(): void {
    for (const client of this.#clients.values()) client.close(this.root)
    this.#clients.clear()
    rmSync(this.root, { recursive: true, force: true })
  }
}
