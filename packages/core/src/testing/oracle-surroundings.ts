import type { RelPath } from '#path/rel-path.ts'
import type { State } from '#tree/state.ts'
import { fresh, lastFolder, NOWHERE, type Rec, type Wish } from './oracle-records.ts'

export function keepRepositories(wishes: Map<RelPath, Wish>): void {
  for (const [path, wish] of wishes) {
    if (!path.endsWith('/.git') || wish.verdict !== 'not-captured' || wish.want.kind !== 'absent') continue
    wish.verdict = 'skipped'
    const folder = path.slice(0, -5)
    for (const [other, inside] of wishes) {
      if ((other === folder || other.startsWith(`${folder}/`)) && inside.verdict === 'go')
        inside.verdict = 'not-captured'
    }
  }
}

/** A folder that is to go, or to give way, stays while anything stays in it or is to come into it. */
export function settleRoom(wishes: Map<RelPath, Wish>, tree: ReadonlyMap<RelPath, State>): void {
  for (const [path, wish] of wishes) {
    if (wish.verdict !== 'missing-blob' || wish.from.kind !== 'dir') continue
    for (const [below, inside] of wishes) {
      if (below.startsWith(`${path}/`) && inside.verdict === 'go' && inside.want.kind === 'absent')
        inside.verdict = 'missing-blob'
    }
  }
  for (let again = true; again; ) {
    again = false
    for (const [path, wish] of wishes) {
      if (wish.verdict !== 'go' || wish.from.kind !== 'dir' || wish.want.kind === 'dir') continue
      const isInside = (other: RelPath): boolean => other.startsWith(`${path}/`)
      const goes = (other: RelPath): boolean =>
        wishes.get(other)?.verdict === 'go' && wishes.get(other)?.want.kind === 'absent'
      const stays = [...tree.keys()].some((other) => isInside(other) && !goes(other))
      const comes = [...wishes].some(
        ([other, inside]) => isInside(other) && inside.verdict === 'go' && inside.want.kind !== 'absent',
      )
      if (!stays && !comes) continue
      wish.verdict = 'directory-not-empty'
      again = true
    }
  }
}

/** Gives the wishes for missing parents; those stand in `wishes` as well, over whatever was there. */
export function settleParents(
  wishes: Map<RelPath, Wish>,
  tree: ReadonlyMap<RelPath, State>,
  live: ReadonlyMap<RelPath, Rec[]>,
): Set<Wish> {
  const made = new Set<Wish>()
  for (const path of [...wishes.keys()].sort()) {
    const wish = wishes.get(path)
    if (wish === undefined || wish.verdict !== 'go' || wish.want.kind === 'absent') continue
    const names = path.split('/')
    const folders = names.slice(1).map((_, i) => names.slice(0, i + 1).join('/'))
    const coming = folders.map((folder): State => {
      const other = wishes.get(folder)
      return other?.verdict === 'go' ? other.want : (tree.get(folder) ?? NOWHERE)
    })
    if (coming.some((state) => state.kind !== 'dir' && state.kind !== 'absent')) {
      wish.verdict = 'blocked-by-parent'
      continue
    }
    for (const [i, folder] of folders.entries()) {
      if (coming[i]?.kind === 'dir') continue
      const old = wishes.get(folder)
      const recs = live.get(folder) ?? []
      const want = lastFolder(recs)
      const isGoing = old?.verdict === 'go'
      const parent: Wish = {
        from: isGoing ? old.from : NOWHERE,
        want,
        list: [...(isGoing ? old.list : recs), fresh(NOWHERE, want)],
        also: isGoing ? old.also : [],
        verdict: 'go',
        by: '',
        isConflict: false,
        isMerge: false,
      }
      wishes.set(folder, parent)
      made.add(parent)
    }
  }
  return made
}
