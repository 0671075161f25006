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
