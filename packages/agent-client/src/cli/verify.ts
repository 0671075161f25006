import { createHash } from 'node:crypto'
import { type BlobId, DomainError } from '@turnback/core'
import type { Register } from './context.ts'
import { EXIT } from './exit-code.ts'

export const register: Register = (program, context) => {
  program
    .command('verify')
    .option('--subset <n/m>', 'only the Nth of M parts of all blobs')
    .description('read every blob of the store and compare it with its name')
    .action((options: { subset?: string }) => {
      const isChosen = chooseSubset(options.subset)
      const { packedBlobs } = context.deps
      const missing: BlobId[] = []
      const corrupt: BlobId[] = []
      let blobs = 0
      let bytes = 0
      for (const { id } of packedBlobs.list().filter(({ id }) => isChosen(id))) {
        blobs++
        try {
          packedBlobs.readPieces(id, (piece) => {
            bytes += piece.length
          })
        } catch (error) {
          if (!(error instanceof DomainError)) throw error
          if (error.code === 'BLOB_NOT_FOUND') missing.push(id)
          else corrupt.push(id)
        }
      }
      if (missing.length + corrupt.length > 0) context.exitCode = EXIT.failed
      context.print({ blobs, bytes, missing, corrupt }, () =>
        [
          `${blobs} blobs, ${bytes} bytes`,
          ...missing.map((id) => `missing ${id}`),
          ...corrupt.map((id) => `corrupt ${id}`),
        ].join('\n'),
      )
    })
}

function chooseSubset(subset: string | undefined): (id: BlobId) => boolean {
  if (subset === undefined) return () => true
  const [, part, parts] = /^([0-9]{1,6})\/([0-9]{1,6})$/.exec(subset) ?? []
  const [n, m] = [Number(part), Number(parts)]
  if (part === undefined || n < 1 || n > m) throw new DomainError('USAGE', { subset })
  return (id) => createHash('sha256').update(id).digest().readUInt32BE(0) % m === n - 1
}
