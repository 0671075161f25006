import { promisify } from 'node:util'
import { zstdDecompress } from 'node:zlib'

interface Unpacked {
  readonly buffer: Buffer
  readonly engine: { readonly bytesWritten: number }
}

/** With `info`, zlib also tells how much of its input it used. Its types do not know that. */
const unpack = promisify(zstdDecompress) as unknown as (
  bytes: Uint8Array,
  options: { maxOutputLength: number; info: true },
) => Promise<Unpacked>

export type UnzstdFault = 'too-large' | 'damaged' | 'trailing'

/** One zstd frame and nothing behind it, of which no more than `maxBytes` is ever made. */
export async function unzstd(
  bytes: Uint8Array,
  maxBytes: number,
): Promise<Uint8Array | { fault: UnzstdFault }> {
  try {
    // zlib takes no bound of 0.
    const { buffer, engine } = await unpack(bytes, { maxOutputLength: Math.max(1, maxBytes), info: true })
    if (engine.bytesWritten !== bytes.length) return { fault: 'trailing' }
    return buffer.length > maxBytes ? { fault: 'too-large' } : buffer
  } catch (error) {
    const isTooLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE'
    return { fault: isTooLarge ? 'too-large' : 'damaged' }
  }
}

const MAGIC = 0xfd2fb528
const DICTIONARY_ID_BYTES = [0, 1, 2, 4]

/** What a zstd frame says that it unpacks to (RFC 8878, 3.1.1.1), or null when it does not say. */
export function statedBytes(frame: Uint8Array): number | null {
  const bytes = Buffer.from(frame.buffer, frame.byteOffset, Math.min(frame.length, 18))
  const descriptor = bytes[4]
  if (descriptor === undefined || bytes.readUInt32LE(0) !== MAGIC) return null
  const isSingleSegment = (descriptor & 0x20) !== 0
  const offset = 5 + (isSingleSegment ? 0 : 1) + (DICTIONARY_ID_BYTES[descriptor & 3] ?? 0)
  const flag = descriptor >> 6
  const sizeBytes = flag === 0 ? Number(isSingleSegment) : 1 << flag
  if (sizeBytes === 0 || offset + sizeBytes > bytes.length) return null
  if (sizeBytes === 8) return Number(bytes.readBigUInt64LE(offset))
  return bytes.readUIntLE(offset, sizeBytes) + (sizeBytes === 2 ? 256 : 0)
}
