import type { LookOptions } from '#capture-ports.ts'

/** What one look may read, when it is not all. */
export class ReadQuota {
  readonly #most: LookOptions['readAtMost']
  #bytes = 0

  constructor(most: LookOptions['readAtMost']) {
    this.#most = most
  }

  /** Whether a file of this size may be read; then it is counted. */
  takes(sizeBytes: number): boolean {
    if (this.#most === undefined) return true
    if (sizeBytes > this.#most.fileBytes || this.#bytes + sizeBytes > this.#most.bytes) return false
    this.#bytes += sizeBytes
    return true
  }
}
