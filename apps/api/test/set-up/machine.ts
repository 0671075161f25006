import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { zstdCompressSync } from 'node:zlib'
import {
  type BlobId,
  type Codec,
  type EnvelopeType,
  headerLine,
  type MachineId,
  makeId,
  PACK_MAGIC,
  type ProjectId,
  signedPrefix,
  type TurnManifest,
  type WorkspaceId,
  writeFrameHeader,
} from '@turnback/core'
import type { FastifyInstance } from 'fastify'
import { type Answer, type Ask, call } from './call.ts'

export function newId<P extends 't' | 'r' | 'w' | 'm' | 'p' | 'c'>(prefix: P) {
  return makeId(prefix, Date.now(), randomBytes(10))
}

export function sha256(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex')
}

export function plainId(bytes: Uint8Array | string): BlobId {
  return `p${sha256(bytes)}`
}

export interface Frame {
  readonly id: BlobId
  readonly codec: Codec
  readonly sizeBytes: number
  readonly stored: Uint8Array
}

export function zstdFrame(content: Uint8Array | string): Frame {
  const bytes = Buffer.from(content)
  return { id: plainId(bytes), codec: 'zstd', sizeBytes: bytes.length, stored: zstdCompressSync(bytes) }
}

/** Looks like a sealed blob to whoever has no key, as the server has none. */
export function sealedFrame(): Frame {
  const letters = 'abcdefghijklmnopqrstuvwxyz234567'
  const id = `s${Array.from(randomBytes(52), (byte) => letters[byte % 32]).join('')}` as BlobId
  const stored = Buffer.concat([Buffer.from('age-encryption.org/v1\n-> X25519 '), randomBytes(300)])
  return { id, codec: 'age', sizeBytes: 300, stored }
}

export function makePack(frames: readonly Frame[]): Buffer {
  const parts = frames.flatMap((frame) => [
    writeFrameHeader({ ...frame, storedBytes: frame.stored.length }),
    frame.stored,
  ])
  return Buffer.concat([Buffer.from(PACK_MAGIC), ...parts])
}

/** A machine with a key of its own that signs as docs/protocol.md says. */
export class TestMachine {
  readonly id: MachineId = newId('m')
  readonly name: string
  readonly #app: FastifyInstance
  readonly #clock: { nowMs(): number }
  readonly #key: KeyObject
  readonly publicKey: string
  project: ProjectId = newId('p')

  constructor(app: FastifyInstance, clock: { nowMs(): number }, name: string) {
    this.#app = app
    this.#clock = clock
    this.name = name
    const { publicKey, privateKey } = generateKeyPairSync('ed25519')
    this.#key = privateKey
    this.publicKey = String(publicKey.export({ format: 'jwk' }).x)
  }

  sign(text: Uint8Array | string): string {
    return sign(null, Buffer.from(text), this.#key).toString('base64url')
  }

  enrollBody(code: string) {
    const recipient = `age1${'q'.repeat(58)}`
    const proof = this.sign(`turnback/enroll/v1\n${code}\n${this.id}\n${recipient}`)
    return {
      code,
      machine: this.id,
      name: this.name,
      publicKey: this.publicKey,
      recipient,
      proof,
      version: '1.0',
    }
  }

  enroll(code: string): Promise<Answer> {
    return call(this.#app, 'POST', '/v1/machines/enroll', { body: this.enrollBody(code) })
  }

  /** Value of `Authorization`; each field can be another than it should be. */
  authorization(
    method: string,
    url: string,
    body: Uint8Array,
    other: { ts?: number; nonce?: string; machine?: string; signedUrl?: string; sha256?: string } = {},
  ): string {
    const ts = other.ts ?? this.#clock.nowMs()
    const nonce = other.nonce ?? randomBytes(16).toString('base64url')
    const hash = other.sha256 ?? sha256(body)
    const text = `turnback/request/v1\n${method}\n${other.signedUrl ?? url}\n${ts}\n${nonce}\n${hash}`
    return `Turnback-Machine machine=${other.machine ?? this.id},ts=${ts},nonce=${nonce},sha256=${hash},sig=${this.sign(text)}`
  }

  async call(method: 'GET' | 'POST' | 'PUT', url: string, ask: Ask = {}): Promise<Answer> {
    const body =
      ask.body instanceof Uint8Array
        ? ask.body
        : Buffer.from(ask.body === undefined ? '' : JSON.stringify(ask.body))
    return await call(this.#app, method, url, {
      ...ask,
      headers: { authorization: this.authorization(method, url, body), ...ask.headers },
    })
  }

  async workspace(options: { name?: string; project?: string | null } = {}): Promise<WorkspaceId> {
    const id = newId('w')
    const { name = 'site', project = null } = options
    const answer = await this.call('PUT', `/v1/workspaces/${id}`, {
      body: { root: `/home/dev/${name}`, name, project },
    })
    if (answer.status !== 200) throw new Error(answer.text)
    return id
  }

  async putPack(workspace: WorkspaceId, pack: Uint8Array, packId: string = sha256(pack)): Promise<Answer> {
    return await this.call('PUT', `/v1/workspaces/${workspace}/packs/${packId}`, {
      body: pack,
      headers: { 'content-type': 'application/vnd.turnback.pack' },
    })
  }

  envelope(type: EnvelopeType, body: unknown): Buffer {
    const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
    const signature = this.sign(
      Buffer.concat([Buffer.from(signedPrefix(type, this.id, bytes.length)), bytes]),
    )
    return Buffer.concat([Buffer.from(headerLine(type, this.id, signature)), bytes])
  }

  async putTurn(turn: string, envelope: Uint8Array): Promise<Answer> {
    return await this.call('PUT', `/v1/turns/${turn}`, {
      body: zstdCompressSync(envelope),
      headers: { 'content-type': 'application/vnd.turnback.envelope+zstd' },
    })
  }

  async putEnvelope(url: string, envelope: Uint8Array): Promise<Answer> {
    return await this.call('PUT', url, {
      body: envelope,
      headers: { 'content-type': 'application/vnd.turnback.envelope' },
    })
  }
}

/** A workspace's log as its machine keeps it: gives turns their numbers and links them. */
export class TestLog {
  readonly machine: TestMachine
  readonly workspace: WorkspaceId
  #seq = 0
  #prev: string | null = null

  constructor(machine: TestMachine, workspace: WorkspaceId) {
    this.machine = machine
    this.workspace = workspace
  }

  manifest(part: Partial<TurnManifest> = {}): TurnManifest {
    const at = new Date(1_790_000_000_000 + this.#seq * 60_000).toISOString()
    return {
      format: 'turnback.turn/1',
      turn: newId('t'),
      kind: 'agent',
      number: this.#seq + 1,
      seq: this.#seq + 1,
      prev: this.#prev,
      machine: this.machine.id,
      workspace: this.workspace,
      project: null,
      session: 's1',
      agent: { name: 'claude-code', version: '2.0' },
      task: null,
      label: null,
      startedAt: at,
      endedAt: at,
      endReason: 'completed',
      lateStart: false,
      lateEnd: false,
      prompt: 'do it',
      lastMessage: null,
      git: { headBefore: null, headAfter: null, branch: null, operation: null },
      coverage: { complete: true, reason: null, files: 1 },
      overlaps: [],
      entries: [],
      skipped: [],
      ...part,
    }
  }

  /** Signs and sends; the next one continues from here when it was taken. */
  async push(
    part: Partial<TurnManifest> = {},
  ): Promise<{ manifest: TurnManifest; envelope: Buffer; answer: Answer }> {
    const manifest = this.manifest(part)
    const envelope = this.machine.envelope('turn', manifest)
    const answer = await this.machine.putTurn(manifest.turn, envelope)
    if (answer.status === 200) this.advance(manifest.seq, sha256(envelope))
    return { manifest, envelope, answer }
  }

  advance(seq: number, sha: string): void {
    this.#seq = seq
    this.#prev = sha
  }
}

export function fileState(content: string, mode = 0o644) {
  return { kind: 'file', blob: plainId(content), sizeBytes: Buffer.byteLength(content), mode } as const
}

export function entryOf(
  path: string,
  before: string | null,
  after: string | null,
): TurnManifest['entries'][number] {
  const state = (content: string | null) =>
    content === null ? ({ kind: 'absent' } as const) : fileState(content)
  return {
    path,
    before: state(before),
    after: state(after),
    source: 'tool',
    scan: 1,
    steps: null,
    sealed: false,
  }
}
