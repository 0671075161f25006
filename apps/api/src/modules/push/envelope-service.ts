import { createHash } from 'node:crypto'
import {
  DomainError,
  type EnvelopeType,
  limits,
  parseEnvelopeHeader,
  type Stub,
  signedPrefix,
  stubSchema,
  type TurnManifest,
  turnManifestSchema,
} from '@turnback/core'
import type { z } from 'zod'
import type { MachineActor } from '#http/actor.ts'
import { invalid } from '#http/errors.ts'
import { isSignedBy } from '#modules/machines/index.ts'
import { ByteBudget } from './byte-budget.ts'
import { statedBytes, unzstd } from './zstd.ts'

/** Unpacked envelopes that are held at the same time. A bigger one is taken when it is the only one. */
const envelopesHeld = new ByteBudget(128 * 1024 * 1024)

/**
 * Unpacks an envelope within bounds and gives it to `take`; the others wait as long as there is no room for it.
 * @throws PAYLOAD_TOO_LARGE, MANIFEST_INVALID
 */
export async function withUnpacked<T>(
  compressed: Uint8Array,
  take: (envelope: Uint8Array) => Promise<T>,
): Promise<T> {
  const stated = statedBytes(compressed)
  const maxBytes = Math.min(stated ?? limits.envelopeBytes, limits.envelopeBytes)
  if (stated !== null && stated > maxBytes) throw tooLarge()
  return await envelopesHeld.run(maxBytes, async () => {
    const bytes = await unzstd(compressed, maxBytes)
    if (!('fault' in bytes)) return await take(bytes)
    if (bytes.fault === 'too-large' && stated === null) throw tooLarge()
    throw new DomainError('MANIFEST_INVALID', { why: bytes.fault === 'trailing' ? 'trailing' : 'damaged' })
  })
}

function tooLarge(): DomainError {
  return new DomainError('PAYLOAD_TOO_LARGE', { maxBytes: limits.envelopeBytes })
}

/**
 * Checks that this machine signed these very bytes as one of `types`, and gives the body's text.
 * @throws SIGNATURE_INVALID
 */
export function openEnvelope(
  machine: MachineActor,
  envelope: Uint8Array,
  types: readonly EnvelopeType[],
): { type: EnvelopeType; text: string; sha256: string } {
  const header = parseEnvelopeHeader(envelope)
  if (header === null || header.machine !== machine.id || !types.includes(header.type))
    throw new DomainError('SIGNATURE_INVALID')
  const body = envelope.subarray(header.bodyOffset)
  const signed = Buffer.concat([Buffer.from(signedPrefix(header.type, header.machine, body.length)), body])
  if (!isSignedBy(machine.publicKey, signed, header.signature)) throw new DomainError('SIGNATURE_INVALID')
  const text = Buffer.from(body.buffer, body.byteOffset, body.length).toString('utf8')
  return { type: header.type, text, sha256: createHash('sha256').update(envelope).digest('hex') }
}

export function parseManifest(text: string): TurnManifest {
  return parseBody(text, turnManifestSchema)
}

export function parseStub(text: string): Stub {
  return parseBody(text, stubSchema)
}

function parseBody<T>(text: string, schema: z.ZodType<T>): T {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (error) {
    throw new DomainError('MANIFEST_INVALID', { why: 'json' }, { cause: error })
  }
  const parsed = schema.safeParse(json)
  if (!parsed.success) throw new DomainError('MANIFEST_INVALID', invalid(parsed.error).details)
  return parsed.data
}
