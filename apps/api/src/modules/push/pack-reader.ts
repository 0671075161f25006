import { DomainError, type FrameHeader, limits, PACK_MAGIC, parseFrameHeader } from '@turnback/core'

export interface PackFrame extends FrameHeader {
  /** Where the stored bytes begin, from the start of the pack. */
  readonly offsetBytes: number
}

const MAGIC = Buffer.from(PACK_MAGIC)
/** A sealed or compressed file may be a little longer than the file, and a sealed one's length is that with padding. */
const SLACK_BYTES = 1024 * 1024
const MAX_FRAME_BYTES = limits.fileBytes + SLACK_BYTES
const MAX_FRAMES = 200_000

/**
 * Takes a pack apart while it comes in, holding one frame at a time. `take` gets each frame with its stored
 * bytes and throws when they are not what the header says.
 * @throws PACK_INVALID for what is no pack, is cut off, or has something behind its last frame
 */
export class PackReader {
  readonly #take: (frame: PackFrame, stored: Uint8Array) => Promise<void>
  #held: Uint8Array[] = []
  #heldBytes = 0
  #neededBytes = MAGIC.length
  #passedBytes = 0
  #hasMagic = false
  #frames = 0

  constructor(take: (frame: PackFrame, stored: Uint8Array) => Promise<void>) {
    this.#take = take
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#held.push(chunk)
    this.#heldBytes += chunk.length
    if (this.#heldBytes < this.#neededBytes) return
    let rest = this.#held.length === 1 ? chunk : Buffer.concat(this.#held)
    for (;;) {
      const used = await this.#step(rest)
      if (used === 0) break
      rest = rest.subarray(used)
      this.#passedBytes += used
    }
    this.#held = rest.length === 0 ? [] : [rest]
    this.#heldBytes = rest.length
  }

  end(): void {
    if (!this.#hasMagic || this.#heldBytes > 0) throw new DomainError('PACK_INVALID', { why: 'cut off' })
    if (this.#frames === 0) throw new DomainError('PACK_INVALID', { why: 'empty' })
  }

  /** Takes one piece off the front of `bytes`; gives its length, or 0 when more must come first. */
  async #step(bytes: Uint8Array): Promise<number> {
    if (!this.#hasMagic) {
      if (bytes.length < MAGIC.length) return 0
      if (!MAGIC.equals(bytes.subarray(0, MAGIC.length)))
        throw new DomainError('PACK_INVALID', { why: 'no pack' })
      this.#hasMagic = true
      this.#neededBytes = 1
      return MAGIC.length
    }
    const parsed = parseFrameHeader(bytes, 0)
    if (parsed.kind === 'bad') throw new DomainError('PACK_INVALID', { why: parsed.why })
    if (parsed.kind === 'more') {
      this.#neededBytes = bytes.length + 1
      return 0
    }
    const { header, headerBytes } = parsed
    const maxSizeBytes = header.codec === 'age' ? MAX_FRAME_BYTES : limits.fileBytes
    if (header.storedBytes > MAX_FRAME_BYTES || header.sizeBytes > maxSizeBytes)
      throw new DomainError('PAYLOAD_TOO_LARGE', { maxBytes: limits.fileBytes })
    const wholeBytes = headerBytes + header.storedBytes
    if (bytes.length < wholeBytes) {
      this.#neededBytes = wholeBytes
      return 0
    }
    this.#frames += 1
    if (this.#frames > MAX_FRAMES) throw new DomainError('PAYLOAD_TOO_LARGE', { maxFrames: MAX_FRAMES })
    const frame = { ...header, offsetBytes: this.#passedBytes + headerBytes }
    await this.#take(frame, bytes.subarray(headerBytes, wholeBytes))
    this.#neededBytes = 1
    return wholeBytes
  }
}
