import { type RelPath, readName, writeName } from '@turnback/core'

/** A path as git has it, from the repository's top, one character for each byte: not text, and only compared. */
export type GitPath = string

/** @param prefix of the workspace in its repository: empty, or ending with a slash */
export function toGitPath(path: RelPath, prefix: GitPath): GitPath {
  const names = path.split('/').map((name) => {
    const bytes = readName(name)
    if (bytes === null) throw new Error(`invariant: ${name} is a written name`)
    return Buffer.from(bytes).toString('latin1')
  })
  return prefix + names.join('/')
}

/** Null for what lies outside of the workspace. */
export function toRelPath(path: GitPath, prefix: GitPath): RelPath | null {
  if (!path.startsWith(prefix)) return null
  return path
    .slice(prefix.length)
    .split('/')
    .map((name) => writeName(Buffer.from(name, 'latin1')))
    .join('/')
}

/** For people. */
export function showGitPath(path: GitPath): string {
  return Buffer.from(path, 'latin1').toString('utf8')
}
