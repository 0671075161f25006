import { createPublicKey, verify } from 'node:crypto'
import { type EnvelopeType, parseEnvelopeHeader, signedPrefix } from '@turnback/core'
import type { MachineIdentity } from '#ports.ts'

/** DER head of RFC 8410: what stands before the 32 raw bytes of a public key. */
const ED25519_DER = Buffer.from('302a300506032b6570032100', 'hex')

/** The signed bytes of an envelope, or null when it is not of this type or not signed by this machine. */
export function openEnvelope(
  envelope: Uint8Array,
  type: EnvelopeType,
  identity: Pick<MachineIdentity, 'machine' | 'publicKey'>,
): Uint8Array | null {
  const header = parseEnvelopeHeader(envelope)
  if (header === null || header.type !== type || header.machine !== identity.machine) return null
  const body = envelope.subarray(header.bodyOffset)
  const key = createPublicKey({
    key: Buffer.concat([ED25519_DER, Buffer.from(identity.publicKey, 'base64url')]),
    format: 'der',
    type: 'spki',
  })
  const signed = Buffer.concat([Buffer.from(signedPrefix(type, header.machine, body.length), 'ascii'), body])
  return verify(null, signed, key, Buffer.from(header.signature, 'base64url')) ? body : null
}
