import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** What a path is, told apart as far as a restore has to: kind, permission bits, bytes or link target. */
export type TreeSnapshot = ReadonlyMap<string, string>

const SLASH = Buffer.from('/')

/**
 * Reads a whole tree without following links. Names are taken as bytes, so names that are not UTF-8 are compared too.
 * `leaveOut` are names directly below the root.
 */
export function snapshotTree(root: string, leaveOut: readonly string[] = ['.git']): TreeSnapshot {
  const found = new Map<string, string>()
  const walk = (folder: Buffer, below: string): void => {
    for (const name of readdirSync(folder, { encoding: 'buffer' })) {
      if (below === '' && leaveOut.includes(name.toString('latin1'))) continue
      const path = Buffer.concat([folder, SLASH, name])
      const key = below + name.toString('latin1')
      const stat = lstatSync(path)
      const mode = (stat.mode & 0o7777).toString(8)
      if (stat.isDirectory()) {
        found.set(key, `folder ${mode}`)
        walk(path, `${key}/`)
      } else if (stat.isSymbolicLink())
        found.set(key, `link - ${readlinkSync(path, { encoding: 'buffer' }).toString('latin1')}`)
      else if (stat.isFile())
        found.set(key, `file ${mode} ${createHash('sha256').update(readFileSync(path)).digest('hex')}`)
      else found.set(key, `special ${mode}`)
    }
  }
  walk(Buffer.from(root), '')
  return found
}

/** One line for each path that is not the same in both, sorted; empty when the trees are equal. */
export function differences(wanted: TreeSnapshot, present: TreeSnapshot): string[] {
  const paths = [...new Set([...wanted.keys(), ...present.keys()])].sort()
  return paths.flatMap((path) => {
    const [want, have] = [wanted.get(path), present.get(path)]
    if (want === have) return []
    if (want === undefined) return [`${path}: left over`]
    if (have === undefined) return [`${path}: gone`]
    const [wantKind, wantMode, wantContent] = want.split(' ')
    const [haveKind, haveMode, haveContent] = have.split(' ')
    if (wantKind !== haveKind) return [`${path}: other kind`]
    return [
      `${path}: ${[wantMode !== haveMode && 'mode', wantContent !== haveContent && 'content'].filter(Boolean).join(' and ')}`,
    ]
  })
}
