import { createHash } from 'node:crypto'
import type { MachineIdentity } from '#ports.ts'

/** The part of a machine's identity that signs requests. */
export type RequestSigner = Pick<MachineIdentity, 'machine' | 'sign'>

/**
 * A machine signs each request it makes. The header is
 *
 *     Authorization: Turnback-Machine machine=…,ts=…,nonce=…,sha256=…,sig=…
 *
 * and the signature, Ed25519, is over method, path with query, time, nonce and the body's hash, so none of
 * them can be changed or used a second time (docs/protocol.md).
 */
const REQUEST_SIGNATURE_DOMAIN = 'turnback/request/v1'
const MACHINE_SCHEME = 'Turnback-Machine'
const NONCE_BYTES = 16

export interface RequestToSign {
  readonly method: string
  /** With the query, as it stands in the request line. */
  readonly path: string
  /** Hex SHA-256 of the body's bytes; of nothing when there is none. */
  readonly bodySha256: string
}

/** What the signature is over. ASCII. */
export function requestToBeSigned(request: RequestToSign, ts: number, nonce: string): string {
  return [REQUEST_SIGNATURE_DOMAIN, request.method, request.path, String(ts), nonce, request.bodySha256].join(
    '\n',
  )
}

/**
 * Value of the `Authorization` header.
 * @param nowMs milliseconds since 1970, by this machine's clock
 * @param random new random bytes, 16 of them
 */
export function signRequest(
  identity: RequestSigner,
  request: RequestToSign,
  nowMs: number,
  random: Uint8Array,
): string {
  const nonce = Buffer.from(random.subarray(0, NONCE_BYTES)).toString('base64url')
  const message = requestToBeSigned(request, nowMs, nonce)
  const sig = identity.sign(Buffer.from(message, 'ascii'))
  const parts = [
    `machine=${identity.machine}`,
    `ts=${nowMs}`,
    `nonce=${nonce}`,
    `sha256=${request.bodySha256}`,
    `sig=${sig}`,
  ]
  return `${MACHINE_SCHEME} ${parts.join(',')}`
}

/** Hex SHA-256 of a body given in pieces. */
export function sha256Hex(pieces: readonly Uint8Array[]): string {
  const hash = createHash('sha256')
  for (const piece of pieces) hash.update(piece)
  return hash.digest('hex')
}
