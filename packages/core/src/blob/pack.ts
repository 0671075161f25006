import type { BlobId } from './blob-id.ts'
import { blobIdSchema } from './blob-id.ts'

/**
 * A pack carries many blobs in one body, and rests as one object. Bytes:
 *
 *     "turnback-pack/1\n" frame*
 *     frame = u8 id length · id (ASCII) · u8 codec · u32 size · u32 stored length · stored bytes
 *
 * Numbers are big-endian. `size` is the length of what the id names; `stored length` that of the bytes that
 * follow. The same framing is used between machine and server and in the machine's own store, which knows
 * more codecs and blocks (docs/format.md).
 */
export const PACK_MAGIC = 'turnback-pack/1\n'

export const CODECS = {
  /** The bytes as they are. */
  raw: 0,
  /** One zstd frame. */
  zstd: 1,
  /** An age file; only for sealed blobs, and the only codec a sealed blob may travel in. */
  age: 2,
  /** AES-256-GCM under the machine's store key: nonce, ciphertext, tag. Never leaves the machine. */
  vault: 3,
  /** Copy and insert instructions against another blob; only inside a block. Never leaves the machine. */
  delta: 4,
  /** Of a big blob, zstd frames of 1 MiB each, with u32 length before each. Never leaves the machine. */
  pieces: 5,
} as const
export type Codec = keyof typeof CODECS

const CODEC_NAMES: ReadonlyMap<number, Codec> = new Map([
  [CODECS.raw, 'raw'],
  [CODECS.zstd, 'zstd'],
  [CODECS.age, 'age'],
  [CODECS.vault, 'vault'],
  [CODECS.delta, 'delta'],
  [CODECS.pieces, 'pieces'],
])

/** In place of a codec, says that a frame is a block: it has no id, and many blobs. */
const BLOCK = 6

export interface FrameHeader {
  readonly id: BlobId
  readonly codec: Codec
  readonly sizeBytes: number
  readonly storedBytes: number
}

/** The header of one frame; its stored bytes follow. */
export function writeFrameHeader(frame: FrameHeader): Uint8Array {
  const out = new Uint8Array(frame.id.length + 10)
  const view = new DataView(out.buffer)
  out[0] = frame.id.length
  for (let i = 0; i < frame.id.length; i++) out[i + 1] = frame.id.charCodeAt(i)
  const at = frame.id.length + 1
  out[at] = CODECS[frame.codec]
  view.setUint32(at + 1, frame.sizeBytes)
  view.setUint32(at + 5, frame.storedBytes)
  return out
}

/**
 * The header of a block: small blobs one after the other, as they are or as deltas, in one zstd frame. Only the
 * machine's index knows which blob lies where in it, so no reader of packs that come from elsewhere takes one.
 */
export function writeBlockHeader(sizeBytes: number, storedBytes: number): Uint8Array {
  const out = new Uint8Array(10)
  const view = new DataView(out.buffer)
  out[1] = BLOCK
  view.setUint32(2, sizeBytes)
  view.setUint32(6, storedBytes)
  return out
}

export type ParsedFrame =
  | { readonly kind: 'frame'; readonly header: FrameHeader; readonly headerBytes: number }
  /** The header is cut off: read more. */
  | { readonly kind: 'more' }
  /** These bytes are no frame. */
  | { readonly kind: 'bad'; readonly why: string }

/** Reads the frame header that begins at `offset`. */
export function parseFrameHeader(bytes: Uint8Array, offset: number): ParsedFrame {
  const idLength = bytes[offset]
  if (idLength === undefined) return { kind: 'more' }
  if (idLength !== 53 && idLength !== 65) return { kind: 'bad', why: 'id length' }
  const headerBytes = idLength + 10
  if (bytes.length - offset < headerBytes) return { kind: 'more' }
  const id = blobIdSchema.safeParse(String.fromCharCode(...bytes.subarray(offset + 1, offset + 1 + idLength)))
  const view = new DataView(bytes.buffer, bytes.byteOffset + offset + 1 + idLength, 9)
  const codec = CODEC_NAMES.get(view.getUint8(0))
  if (!id.success) return { kind: 'bad', why: 'id' }
  if (codec === undefined) return { kind: 'bad', why: 'codec' }
  const header = { id: id.data, codec, sizeBytes: view.getUint32(1), storedBytes: view.getUint32(5) }
  return { kind: 'frame', header, headerBytes }
}
