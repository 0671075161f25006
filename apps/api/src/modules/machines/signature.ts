import { createPublicKey, verify } from 'node:crypto'
import { type MachineId, machineIdSchema } from '@turnback/core'

/** What a machine's `Authorization` header says (docs/protocol.md). Nothing of it is believed yet. */
export interface RequestSignature {
  readonly machine: MachineId
  readonly atMs: number
  readonly nonce: string
  /** Hex, of the body. */
  readonly bodySha256: string
  readonly signature: string
}

const SCHEME = 'Turnback-Machine '
const FIELDS =
  /^machine=(m_[0-9a-z]{26}),ts=(\d{13}),nonce=([A-Za-z0-9_-]{16,64}),sha256=([0-9a-f]{64}),sig=([A-Za-z0-9_-]{86})$/

/** Null when the header is missing or not of this form. */
export function parseRequestSignature(header: string | null): RequestSignature | null {
  if (header === null || !header.startsWith(SCHEME)) return null
  const [, id, ts, nonce, bodySha256, signature] = FIELDS.exec(header.slice(SCHEME.length)) ?? []
  const machine = machineIdSchema.safeParse(id)
  if (!machine.success || nonce === undefined || bodySha256 === undefined || signature === undefined)
    return null
  return { machine: machine.data, atMs: Number(ts), nonce, bodySha256, signature }
}

/** The text that a machine signs for a request. */
export function requestText(request: { method: string; url: string }, given: RequestSignature): string {
  return `turnback/request/v1\n${request.method}\n${request.url}\n${given.atMs}\n${given.nonce}\n${given.bodySha256}`
}

/**
 * True when `signature` is the key's, over these bytes.
 * @param publicKey Ed25519, 32 raw bytes
 * @param signature base64url
 */
export function isSignedBy(publicKey: Uint8Array, bytes: Uint8Array, signature: string): boolean {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(publicKey).toString('base64url') }
  const key = createPublicKey({ key: jwk, format: 'jwk' })
  return verify(null, bytes, key, Buffer.from(signature, 'base64url'))
}
