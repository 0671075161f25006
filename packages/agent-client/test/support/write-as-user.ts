// Applies the steps that stand on stdin and prints what came of each: run as another user by a test.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { makeId } from '@turnback/core'
import { treeRootOf } from '#worktree/anchored.ts'
import { readPiecesOf } from '#worktree/look.ts'
import { createTreeWriter } from '#worktree/tree-writer.ts'

const job = JSON.parse(readFileSync(0, 'utf8'))
const blobs = new Map<string, string>(job.blobs)
const writer = createTreeWriter({
  workspace: { ...treeRootOf(job.root), id: makeId('w', 1, new Uint8Array(10)) },
  restore: makeId('r', 1, new Uint8Array(10)),
  blobs: {
    readPieces: (id, take) => take(Buffer.from(blobs.get(id) ?? '', 'base64')),
    idOfOpenFile(_workspace, fd) {
      const hash = createHash('sha256')
      readPiecesOf(fd, (piece) => {
        hash.update(piece)
      })
      return { blob: `p${hash.digest('hex')}`, sizeBytes: 0 }
    },
  },
  random: (bytes) => new Uint8Array(bytes),
})
const outcomes = []
for (const [index, step] of job.steps.entries()) {
  const begun = job.givesUp === true ? writer.begin(step, index) : null
  if (begun === null || 'ok' in begun) outcomes.push(begun ?? writer.apply(step, index))
  else {
    await begun.sync()
    begun.giveUp()
    outcomes.push({ ok: false, why: 'changed' })
  }
}
process.stdout.write(JSON.stringify(outcomes))
