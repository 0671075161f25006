/** SHA-256 of bytes as 64 lower-case hex digits. Passed in: core computes no hashes. */
export type Digest = (bytes: Uint8Array) => string
