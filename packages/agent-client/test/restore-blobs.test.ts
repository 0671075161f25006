import { closeSync, existsSync, openSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { BlobId } from '@turnback/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { RestoreScene } from './support/restore-scene.ts'
import { IS_LONG } from './support/step-points.ts'

const FILES = IS_LONG ? 60 : 12
const timeout = 3_600_000

let scene: RestoreScene
beforeAll(async () => {
  if (!IS_LONG && existsSync('/dev/shm')) process.env.TMPDIR = '/dev/shm'
  scene = await RestoreScene.make(FILES, 'restore')
})
afterAll(() => scene.dispose())

const openStore = (): DatabaseSync => new DatabaseSync(join(scene.home, 'store', 'turnback.db'))

/** Takes one blob's bytes out of the store, or writes others over them. */
function damage(blob: BlobId, how: 'removed' | 'altered'): void {
  const db = openStore()
  const row = db
    .prepare(
      `SELECT p.name, b.at, (SELECT min(c.at) FROM blobs c WHERE c.pack = b.pack AND c.at > b.at) AS next, p.bytes
        FROM blobs b JOIN packs p ON p.id = b.pack WHERE b.id = ?`,
    )
    .get(blob)
  if (row === undefined) throw new Error(`${blob} is not in the store`)
  if (how === 'removed') db.prepare('DELETE FROM blobs WHERE id = ?').run(blob)
  db.close()
  if (how === 'removed') return
  const fd = openSync(join(scene.home, 'store', 'packs', String(row.name)), 'r+')
  // One byte in the middle is enough.
  const end = Number(row.next ?? row.bytes)
  const [at, byte] = [Math.floor((Number(row.at) + end) / 2), Buffer.alloc(1)]
  readSync(fd, byte, 0, 1, at)
  writeSync(fd, Buffer.of((byte[0] ?? 0) ^ 0xff), 0, 1, at)
  closeSync(fd)
}

/**
 * Every blob in the store, with the paths that may be kept when it is gone: those that it is now or was once, those of
 * which it is the base, and, when its bytes are altered, those that lie in one block with it.
 */
function listBlobs(how: 'removed' | 'altered'): Map<BlobId, Set<string>> {
  const { log } = scene.rig.deps
  const workspace = log.listWorkspaces()[0]
  if (workspace === undefined) throw new Error('no workspace')
  const paths = new Map<string, string[]>()
  for (const { path, before, after } of log.listChanges(workspace.id))
    for (const state of [before, after])
      if (state.kind === 'file') paths.set(state.blob, [...(paths.get(state.blob) ?? []), path])
  scene.rig.reopen()
  const db = openStore()
  const rows = db.prepare('SELECT id, pack, at, base FROM blobs').all()
  db.close()
  const isHit = (row: (typeof rows)[number], first: (typeof rows)[number]): boolean => {
    if (row.id === first.id) return true
    if (how === 'altered' && row.pack === first.pack && row.at === first.at) return true
    const base = rows.find(({ id }) => id === row.base)
    return base !== undefined && isHit(base, first)
  }
  return new Map(
    rows.map((first) => {
      const hit = rows.filter((row) => isHit(row, first))
      return [String(first.id) as BlobId, new Set(hit.flatMap(({ id }) => paths.get(String(id)) ?? []))]
    }),
  )
}

test.each(['removed', 'altered'] as const)(
  'each blob of the store %s: its path is kept, every other goes back, and nothing is deleted for it',
  { timeout },
  async (how) => {
    scene.putBack()
    const blobs = listBlobs(how)
    expect(blobs.size).toBeGreaterThan(FILES)
    let total = 0
    for (const [blob, paths] of blobs) {
      scene.putBack()
      damage(blob, how)
      const { code, report } = await scene.run(...scene.args)
      const why = `${blob} of ${[...paths]}: ${JSON.stringify(report)}`
      expect(code, why).toBe(0)
      const missing = report.kept.filter(({ reason }) => reason === 'missing-blob').map(({ path }) => path)
      for (const path of missing) expect([...paths], why).toContain(path)
      const now = scene.look()
      // What a folder is to make room for, or to stand on, stays with it.
      const folders = report.directories.kept.filter(
        (path) => scene.before.get(path) !== scene.after.get(path),
      )
      const kept = [...missing, ...folders]
      const isKept = (path: string): boolean =>
        kept.some((each) => path === each || path.startsWith(`${each}/`))
      for (const path of new Set([...scene.before.keys(), ...scene.after.keys()])) {
        // A folder of what is kept may be there or not.
        if (kept.some((each) => each.startsWith(`${path}/`))) continue
        const wanted = isKept(path) ? scene.before.get(path) : scene.after.get(path)
        expect(now.get(path), `${path}\n${why}`).toBe(wanted)
      }
      total += missing.length
      expect(
        report.deleted.filter((path) => missing.includes(path)),
        why,
      ).toEqual([])
    }
    expect(total).toBeGreaterThanOrEqual(FILES / 2)
  },
)
