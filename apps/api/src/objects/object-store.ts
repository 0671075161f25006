/** Bytes by key, written once. Keys are made by us from ids: never from what a caller named. */
export interface ObjectStore {
  /** Begins an object that nobody sees before {@link ObjectWriter.commit}. */
  beginWrite(): Promise<ObjectWriter>
  /** @throws DomainError BLOB_NOT_FOUND when there is no such object or it is shorter */
  read(key: string, offsetBytes: number, lengthBytes: number): Promise<Uint8Array>
  /** Fails when nothing could be stored now. */
  check(): Promise<void>
}

export interface ObjectWriter {
  write(chunk: Uint8Array): Promise<void>
  /** Makes the object durable under `key`. An object of that key is replaced: it has the same bytes. */
  commit(key: string): Promise<void>
  /** Leaves nothing behind. Harmless after a commit. */
  abort(): Promise<void>
}
