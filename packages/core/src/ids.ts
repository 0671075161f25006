import { z } from 'zod'

/**
 * Ids carry their kind as a prefix, then 26 characters of Crockford base32 (lower case): 48 bits of
 * milliseconds and 80 random bits, so ids of one machine sort by the time they were made.
 */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const BODY = z.string().regex(/^[0-9a-hjkmnp-tv-z]{26}$/)

export const turnIdSchema = z.templateLiteral(['t_', BODY])
export const restoreIdSchema = z.templateLiteral(['r_', BODY])
export const workspaceIdSchema = z.templateLiteral(['w_', BODY])
export const machineIdSchema = z.templateLiteral(['m_', BODY])
export const projectIdSchema = z.templateLiteral(['p_', BODY])
export const commandIdSchema = z.templateLiteral(['c_', BODY])

export type TurnId = `t_${string}`
export type RestoreId = `r_${string}`
export type WorkspaceId = `w_${string}`
export type MachineId = `m_${string}`
export type ProjectId = `p_${string}`
export type CommandId = `c_${string}`

type IdPrefix = 't' | 'r' | 'w' | 'm' | 'p' | 'c'

const ID = /^[a-z]_[0-9a-hjkmnp-tv-z]{26}$/

/** Whether a text is an id of the kind with this prefix. */
export function isId<P extends IdPrefix>(text: string, prefix: P): text is `${P}_${string}` {
  return ID.test(text) && text.startsWith(prefix)
}

/**
 * Makes an id from a clock reading and ten random bytes, both given by the caller.
 * @param nowMs milliseconds since 1970
 * @param random at least ten random bytes; more are ignored
 */
export function makeId<P extends IdPrefix>(prefix: P, nowMs: number, random: Uint8Array): `${P}_${string}` {
  let time = nowMs
  let head = ''
  for (let i = 0; i < 10; i++) {
    head = ALPHABET.charAt(time % 32) + head
    time = Math.floor(time / 32)
  }
  let tail = ''
  let bits = 0
  let value = 0
  for (let i = 0; i < 10; i++) {
    value = (value << 8) | (random[i] ?? 0)
    bits += 8
    while (bits >= 5) {
      bits -= 5
      tail += ALPHABET.charAt((value >>> bits) & 31)
    }
    value &= 0xff
  }
  return `${prefix}_${head}${tail}`
}
