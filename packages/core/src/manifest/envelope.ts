import { z } from 'zod'
import { isId, type MachineId, turnIdSchema, workspaceIdSchema } from '#ids.ts'

/**
 * A signed envelope is one line of header and then the exact bytes that were signed:
 *
 *     turnback-envelope/1 <type> <machine> <base64url Ed25519 signature>\n<body>
 *
 * The signature is over `turnback-envelope/1\n<type>\n<machine>\n<length of body in decimal>\n<body>`, so
 * a body signed as one type can never pass for another. Bodies are kept as they came: nothing is parsed
 * and written again between the machine that signs and whoever checks.
 */
export const ENVELOPE_MAGIC = 'turnback-envelope/1'

/**
 * What may be signed: a turn's manifest, the stub that stands for one, the head of a chain, a restore's plan, its
 * report.
 */
const ENVELOPE_TYPES = ['turn', 'stub', 'head', 'plan', 'report'] as const
export type EnvelopeType = (typeof ENVELOPE_TYPES)[number]
export const envelopeTypeSchema = z.enum(ENVELOPE_TYPES)

export interface EnvelopeHeader {
  readonly type: EnvelopeType
  readonly machine: MachineId
  /** 64 bytes, base64url without padding. */
  readonly signature: string
  /** Where the body begins, in bytes from the start of the envelope. */
  readonly bodyOffset: number
}

const HEADER = /^turnback-envelope\/1 ([a-z]+) (m_[0-9a-hjkmnp-tv-z]{26}) ([A-Za-z0-9_-]{86})$/
const MAX_HEADER_BYTES = 200
const NEWLINE = 0x0a

/** What the signature is over, without the body that follows it. ASCII. */
export function signedPrefix(type: EnvelopeType, machine: MachineId, bodyBytes: number): string {
  return `${ENVELOPE_MAGIC}\n${type}\n${machine}\n${bodyBytes}\n`
}

/** The header line of an envelope, with its newline. ASCII. */
export function headerLine(type: EnvelopeType, machine: MachineId, signature: string): string {
  return `${ENVELOPE_MAGIC} ${type} ${machine} ${signature}\n`
}

/** Reads an envelope's header, or null when the bytes do not begin with one. Checks no signature. */
export function parseEnvelopeHeader(bytes: Uint8Array): EnvelopeHeader | null {
  const end = bytes.subarray(0, MAX_HEADER_BYTES).indexOf(NEWLINE)
  if (end < 0) return null
  const line = String.fromCharCode(...bytes.subarray(0, end))
  const [, named, machine, signature] = HEADER.exec(line) ?? []
  const type = ENVELOPE_TYPES.find((each) => each === named)
  if (type === undefined || machine === undefined || !isId(machine, 'm') || signature === undefined)
    return null
  return { type, machine, signature, bodyOffset: end + 1 }
}

/** Body of a stub: stands on the server for an envelope that is private, too big to send, or purged. */
export const stubSchema = z.strictObject({
  turn: turnIdSchema,
  /** Needed when `prev` is null; else the chain that it continues says it. */
  workspace: workspaceIdSchema.optional(),
  seq: z.int().min(1),
  prev: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .nullable(),
  /** Hex SHA-256 of the envelope that it stands for, so the chain goes on from it. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  reason: z.enum(['private', 'parked', 'purged']),
})
export type Stub = z.infer<typeof stubSchema>

/**
 * Body of a head: where a workspace's chain ends when a turn begins. Whoever keeps it can tell later whether the
 * turns up to there are still those that were there then (docs/decisions/0005-head-witness.md).
 */
export const chainHeadSchema = z
  .strictObject({
    workspace: workspaceIdSchema,
    /** Of the last envelope; 0 when there is none yet. */
    seq: z.int32().min(0),
    /** Hex SHA-256 of the last envelope; null when there is none yet. */
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .nullable(),
    /** Number of the turn that begins. */
    number: z.int32().min(1),
    /** When it begins, by the machine's clock. */
    at: z.iso.datetime(),
  })
  .refine(({ seq, sha256 }) => (seq === 0) === (sha256 === null), 'a head is empty as a whole or not at all')
export type ChainHead = z.infer<typeof chainHeadSchema>
