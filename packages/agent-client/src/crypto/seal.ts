import { DomainError } from '@turnback/core'
import { Decrypter, Encrypter } from 'age-encryption'

/**
 * Sealing for the way out. What an age file of ours holds is
 *
 *     u64 length of content (big-endian) · content · zero padding
 *
 * so that the file's size tells the content's only to the next step: 1 KiB, and 64 KiB above 64 KiB. Nothing
 * is compressed: the size of compressed bytes tells about their content. The id of a sealed blob is made from
 * the content before it comes here and does not depend on recipients, so headers can be written anew later.
 * Anyone who holds the identity opens a file with the stock age program (docs/format.md).
 */
const LENGTH_BYTES = 8
const SMALL_STEP_BYTES = 1024
const LARGE_STEP_BYTES = 64 * 1024

/** Length of what an age file holds for content of this length. Bytes. */
export function paddedSize(contentBytes: number): number {
  const needed = LENGTH_BYTES + contentBytes
  const step = needed > LARGE_STEP_BYTES ? LARGE_STEP_BYTES : SMALL_STEP_BYTES
  return Math.ceil(needed / step) * step
}

/**
 * Makes an age file that each of the recipients (`age1…`) can open alone. Never twice the same bytes: the
 * file key is chance.
 */
export async function sealForPush(recipients: readonly string[], content: Uint8Array): Promise<Uint8Array> {
  const padded = new Uint8Array(paddedSize(content.length))
  new DataView(padded.buffer).setBigUint64(0, BigInt(content.length))
  padded.set(content, LENGTH_BYTES)
  const encrypter = new Encrypter()
  for (const recipient of recipients) encrypter.addRecipient(recipient)
  try {
    return await encrypter.encrypt(padded)
  } finally {
    padded.fill(0)
  }
}

/**
 * Opens what {@link sealForPush} made.
 * @param identity `AGE-SECRET-KEY-1…`
 * @throws BLOB_HASH_MISMATCH when the file was not sealed to this identity or is damaged
 */
export async function openSealed(identity: string, file: Uint8Array): Promise<Uint8Array> {
  const decrypter = new Decrypter()
  decrypter.addIdentity(identity)
  let padded: Uint8Array
  try {
    padded = await decrypter.decrypt(file)
  } catch (cause) {
    throw new DomainError(
      'BLOB_HASH_MISMATCH',
      {},
      { message: 'The sealed bytes cannot be opened with this key.', cause },
    )
  }
  const length = lengthOf(padded)
  if (length === null || paddedSize(length) !== padded.length) {
    throw new DomainError(
      'BLOB_HASH_MISMATCH',
      {},
      { message: 'What was sealed is not in a form that is known.' },
    )
  }
  return padded.subarray(LENGTH_BYTES, LENGTH_BYTES + length)
}

function lengthOf(padded: Uint8Array): number | null {
  if (padded.length < LENGTH_BYTES) return null
  const length = new DataView(padded.buffer, padded.byteOffset).getBigUint64(0)
  return length > BigInt(padded.length - LENGTH_BYTES) ? null : Number(length)
}
