import { createHash, createPublicKey, verify } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { zstdDecompressSync } from 'node:zlib'
import {
  type ChainHead,
  type Codec,
  chainHeadSchema,
  PACK_MAGIC,
  parseEnvelopeHeader,
  parseFrameHeader,
  signedPrefix,
  stubSchema,
  turnManifestSchema,
} from '@turnback/core'
import type { Problem } from '@turnback/core/api'

export interface Received {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

export interface Frame {
  readonly id: string
  readonly codec: Codec
  readonly sizeBytes: number
  readonly stored: Buffer
}

/** What a test has the service do instead: nothing (undefined), an answer, or cut the connection. */
export type Fault =
  | { readonly status: number; readonly code: string; readonly details?: object }
  | 'cut'
  | 'html'
  | 'html-413'
  | undefined

/**
 * A service that takes pushes as the contract says, in memory, checking every signature and hash, and that can be
 * told to fail. For faults only: the real one is tested beside it.
 */
export async function startStandIn(publicKey: string) {
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: publicKey }, format: 'jwk' })
  const received: Received[] = []
  const blobs = new Map<string, Frame>()
  const turns = new Map<string, { type: string; sha256: string; bytes: Buffer }>()
  const reports = new Map<string, unknown>()
  const heads: ChainHead[] = []
  let head: string | null = null
  const nonces = new Set<string>()
  const state = { fault: (_: Received): Fault => undefined }

  function check(request: Received): void {
    const fields =
      /^Turnback-Machine machine=(m_\w+),ts=(\d+),nonce=([\w-]+),sha256=(\w+),sig=([\w-]+)$/.exec(
        request.headers.authorization ?? '',
      )
    if (fields === null) throw new Refusal(401, 'UNAUTHENTICATED')
    const [, , ts = '', nonce = '', sha256 = '', sig = ''] = fields
    const message = `turnback/request/v1\n${request.method}\n${request.path}\n${ts}\n${nonce}\n${sha256}`
    const isGood = verify(null, Buffer.from(message), key, Buffer.from(sig, 'base64url'))
    if (!isGood || nonces.has(nonce) || sha256 !== hex(request.body))
      throw new Refusal(401, 'SIGNATURE_INVALID')
    nonces.add(nonce)
  }

  function answer(request: Received): object {
    check(request)
    const route = `${request.method} ${request.path.replace(/[a-z]_[0-9a-z]{26}|[0-9a-f]{64}/g, '*')}`
    switch (route) {
      case 'PUT /v1/workspaces/*':
        return { workspace: request.path.slice(-28), project: { id: `p_${'0'.repeat(26)}`, name: 'Main' } }
      case 'POST /v1/workspaces/*/blobs/missing': {
        const { ids }: { ids: string[] } = JSON.parse(request.body.toString())
        return { missing: ids.filter((id) => !blobs.has(id)) }
      }
      case 'PUT /v1/workspaces/*/packs/*':
        return takePack(request)
      case 'PUT /v1/turns/*':
        return takeTurn(request)
      case 'PUT /v1/workspaces/*/head':
        heads.push(chainHeadSchema.parse(JSON.parse(openEnvelope(request.body).body.toString())))
        return heads.at(-1) ?? {}
      case 'PUT /v1/restores/*/report':
        reports.set(request.path.split('/')[3] ?? '', JSON.parse(openEnvelope(request.body).body.toString()))
        return { status: 'done' }
      default:
        throw new Refusal(404, 'NOT_FOUND')
    }
  }

  function takePack(request: Received): object {
    if (!request.path.endsWith(hex(request.body))) throw new Refusal(422, 'BLOB_HASH_MISMATCH')
    const frames = readPack(request.body)
    for (const frame of frames) {
      if (frame.id.startsWith('p') && frame.id.slice(1) !== hex(zstdDecompressSync(frame.stored))) {
        throw new Refusal(422, 'BLOB_HASH_MISMATCH')
      }
      if (frame.id.startsWith('s') && frame.codec !== 'age') throw new Refusal(422, 'PACK_INVALID')
      blobs.set(frame.id, frame)
    }
    return { blobs: frames.length, bytes: request.body.length }
  }

  function openEnvelope(bytes: Buffer) {
    const header = parseEnvelopeHeader(bytes)
    if (header === null) throw new Refusal(422, 'MANIFEST_INVALID')
    const body = bytes.subarray(header.bodyOffset)
    const signed = Buffer.concat([Buffer.from(signedPrefix(header.type, header.machine, body.length)), body])
    if (!verify(null, signed, key, Buffer.from(header.signature, 'base64url'))) {
      throw new Refusal(401, 'SIGNATURE_INVALID')
    }
    return { type: header.type, body }
  }

  function takeTurn(request: Received): object {
    const bytes = zstdDecompressSync(request.body)
    const { type, body } = openEnvelope(bytes)
    const value: unknown = JSON.parse(body.toString())
    const { turn, seq, prev } = type === 'stub' ? stubSchema.parse(value) : turnManifestSchema.parse(value)
    const sha256 = type === 'stub' ? stubSchema.parse(value).sha256 : hex(bytes)
    const before = turns.get(turn)
    if (before !== undefined) {
      if (!before.bytes.equals(bytes)) throw new Refusal(409, 'TURN_CONFLICT')
      return { turn, seq, sha256, isNew: false }
    }
    if (prev !== head) throw new Refusal(409, 'CHAIN_BROKEN')
    if (type === 'turn') {
      const named = turnManifestSchema
        .parse(value)
        .entries.flatMap(({ after }) => (after.kind === 'file' ? [after.blob] : []))
      if (named.some((id) => !blobs.has(id))) throw new Refusal(409, 'BLOB_MISSING')
    }
    head = sha256
    turns.set(turn, { type, sha256, bytes })
    return { turn, seq, sha256, isNew: true }
  }

  const server = createServer((request, response) => {
    void readAll(request).then((body) => {
      const taken = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body }
      received.push(taken)
      const fault = state.fault(taken)
      if (fault === 'cut') return request.socket.destroy()
      if (fault === 'html-413')
        return send(response, 413, 'text/html', '<h1>413 Request Entity Too Large</h1>')
      if (fault === 'html')
        return send(response, 200, 'text/html', '<html>Sign in to the hotel network</html>')
      try {
        if (fault !== undefined) throw new Refusal(fault.status, fault.code, fault.details)
        send(response, 200, 'application/json', JSON.stringify(answer(taken)))
      } catch (error) {
        const refusal =
          error instanceof Refusal ? error : new Refusal(500, 'INTERNAL', { why: String(error) })
        send(response, refusal.status, 'application/problem+json', JSON.stringify(refusal.toProblem()))
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo

  return {
    url: new URL(`http://127.0.0.1:${port}/`),
    server,
    received,
    blobs,
    turns,
    reports,
    heads,
    state,
    /** As if an older backup had been put back. */
    forgetAll() {
      blobs.clear()
      turns.clear()
      head = null
    },
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export type StandIn = Awaited<ReturnType<typeof startStandIn>>

class Refusal extends Error {
  readonly status: number
  readonly code: string
  readonly details: object

  constructor(status: number, code: string, details: object = {}) {
    super(code)
    this.status = status
    this.code = code
    this.details = details
  }

  toProblem(): Problem {
    const { status, code } = this
    return {
      type: 'about:blank',
      title: code,
      status,
      code,
      detail: `said by the test: ${code}`,
      details: { ...this.details },
    }
  }
}

export function readPack(body: Buffer): Frame[] {
  if (body.subarray(0, PACK_MAGIC.length).toString('latin1') !== PACK_MAGIC)
    throw new Refusal(422, 'PACK_INVALID')
  const frames: Frame[] = []
  let at = PACK_MAGIC.length
  while (at < body.length) {
    const parsed = parseFrameHeader(body, at)
    if (parsed.kind !== 'frame') throw new Refusal(422, 'PACK_INVALID')
    const from = at + parsed.headerBytes
    at = from + parsed.header.storedBytes
    if (at > body.length) throw new Refusal(422, 'PACK_INVALID')
    const { id, codec, sizeBytes } = parsed.header
    frames.push({ id, codec, sizeBytes, stored: body.subarray(from, at) })
  }
  return frames
}

function hex(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(Buffer.from(piece))
  return Buffer.concat(pieces)
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'content-type': type }).end(body)
}
