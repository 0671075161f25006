import { posix, win32 } from 'node:path'
import type { Platform } from '@turnback/core'
import type { SeededRandom } from '@turnback/core/testing'

const escaped = (bytes: string): string => `b64:${Buffer.from(bytes, 'latin1').toString('base64url')}`
/** What some file system leaves out when it compares names. */
const IGNORED = [
  ...[0x200c, 0x200d, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e],
  ...[0x206a, 0x206b, 0x206c, 0x206d, 0x206e, 0x206f, 0xfeff],
].map((code) => String.fromCharCode(code))
const PLAIN = [
  'a',
  'src',
  'x.ts',
  'é',
  '日本',
  '...',
  '..a',
  'a..',
  ' a',
  '-rf',
  '*',
  '$(x)',
  'git',
  '.gitignore',
  'nul',
  'C',
]
const WAYS_OUT = [
  '..',
  '.',
  '',
  '../..',
  '..\\..',
  '.. ',
  '..\0',
  '%2e%2e',
  escaped('..'),
  escaped('\xff/../../x'),
  escaped('\xff\0'),
  escaped('/'),
  'b64:',
  'b64:***',
]
const STARTS = [
  '',
  '',
  '',
  '',
  '',
  '/',
  '//',
  './',
  '../',
  'C:',
  'C:\\',
  '\\\\host\\share\\',
  '\\\\?\\C:\\',
  '~/',
  'file:///',
]

/** A path as somebody might write who wants to get out, or into a repository; about a third of them are harmless. */
export function hostilePath(random: SeededRandom): string {
  const names = Array.from({ length: 1 + random.below(5) }, () => hostileName(random))
  return random.pick(STARTS) + names.join(random.chance(93) ? '/' : '\\')
}

function hostileName(random: SeededRandom): string {
  const dice = random.below(100)
  if (dice < 62) return random.pick(PLAIN)
  if (dice < 74) return random.pick(WAYS_OUT)
  if (dice < 90) return gitInDisguise(random)
  const bytes = Array.from({ length: 1 + random.below(6) }, () => random.below(256))
  return dice < 95
    ? escaped(String.fromCharCode(...bytes))
    : String.fromCharCode(...bytes.map((each) => each * 7))
}

function gitInDisguise(random: SeededRandom): string {
  const base = random.pick(['.git', '.git', '.git', `git~${random.below(30)}`, '.git2', 'agit'])
  const letters = [...base].map((letter) => (random.chance(40) ? letter.toUpperCase() : letter))
  if (random.chance(40)) letters.splice(random.below(letters.length + 1), 0, random.pick(IGNORED))
  return letters.join('') + random.pick(['', '', '', ' ', '.', '. .', ':x', '::$INDEX_ALLOCATION', '\u200c'])
}

/**
 * Where a path leads when it is joined to a root, judged without the client's help: by what the system itself makes of
 * it, and by what git says that a `.git` may look like.
 * @returns what is wrong with it, or null
 */
export function findHarm(path: string, platform: Platform): string | null {
  const names = path.split('/').map(readAny)
  if (names.some((name) => name.includes(0))) return 'NUL'
  const joined = names.map((name) => name.toString('latin1')).join('/')
  if (platform === 'windows') {
    const text = path
      .split('/')
      .map((name) => readAny(name).toString('utf8'))
      .join('\\')
    const at = win32.resolve('C:\\root', text)
    const isBelow = at.startsWith('C:\\root\\') && at.length > 'C:\\root\\'.length
    if (!isBelow || at.slice(2).includes(':')) return 'outside'
    if (at.split('\\').length !== names.length + 2) return 'outside'
  } else {
    const at = posix.resolve('/root', joined)
    if (!at.startsWith('/root/') || at.split('/').length !== names.length + 2) return 'outside'
  }
  return names.some((name) => isGit(name.toString('utf8'))) ? 'git' : null
}

function readAny(name: string): Buffer {
  return name.startsWith('b64:') ? Buffer.from(name.slice(4), 'base64url') : Buffer.from(name, 'utf8')
}

function isGit(name: string): boolean {
  let text = ''
  for (const letter of name) if (!IGNORED.includes(letter)) text += letter.toLowerCase()
  const [stem = ''] = text.split(':')
  const bare = stem.replace(/[ .]*$/, '')
  return bare === '.git' || (bare.startsWith('git~') && /^[0-9]+$/.test(bare.slice(4)))
}
