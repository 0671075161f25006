import { readName } from './name.ts'

export type Platform = 'posix' | 'windows' | 'darwin'
export type PathFault =
  | 'empty'
  | 'absolute'
  | 'empty-name'
  | 'dot-name'
  | 'nul'
  | 'slash-in-name'
  | 'bad-escape'
  | 'git-directory'
  | 'windows-name'

const WINDOWS_DEVICES = /^(con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?$/i
/** What NTFS calls `.git` beside a `git~1` that is taken: its first letters and a hash. */
const GIT_SHORT_NAME = /^gi[0-9a-f]{4}~[0-9]+$/i
const SLASH = 0x2f

/**
 * Finds the reason why a written path may not be joined to a workspace's root, or null when it may.
 * The one judge on both sides: the client asks before it writes, the server before it accepts. `.git`
 * is refused in every disguise a file system may fold into it (case, trailing dots and spaces, NTFS
 * short names and streams, HFS+ ignorable characters), on every platform: trees travel.
 */
export function findPathFault(path: string, platform: Platform): PathFault | null {
  if (path === '') return 'empty'
  if (path.startsWith('/')) return 'absolute'
  for (const name of path.split('/')) {
    const fault = findNameFault(name, platform)
    if (fault !== null) return fault
  }
  return null
}

function findNameFault(name: string, platform: Platform): PathFault | null {
  if (name === '') return 'empty-name'
  if (name === '.' || name === '..') return 'dot-name'
  const bytes = readName(name)
  if (bytes === null) return 'bad-escape'
  if (bytes.includes(0)) return 'nul'
  if (bytes.includes(SLASH)) return 'slash-in-name'
  if (isGitDisguise(name)) return 'git-directory'
  if (platform === 'windows' && isBadOnWindows(name)) return 'windows-name'
  return null
}

/** True for `.git` and for every name that some file system takes for it. */
export function isGitDisguise(name: string): boolean {
  // HFS+ drops these code points when it compares names.
  const visible = name.replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/gu, '')
  const stem = visible
    .toLowerCase()
    .replace(/:.*$/u, '')
    .replace(/[. ]+$/u, '')
    .normalize('NFKC')
  return stem === '.git' || /^git~[0-9]+$/u.test(stem)
}

function isBadOnWindows(name: string): boolean {
  return (
    /[\\:*?"<>|\u0001-\u001f\u007f-\u009f]/u.test(name) ||
    /[. ]$/u.test(name) ||
    WINDOWS_DEVICES.test(name) ||
    GIT_SHORT_NAME.test(name)
  )
}
