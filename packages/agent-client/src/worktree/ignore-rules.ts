import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { nameOf, parentOf, type RelPath, readName } from '@turnback/core'
import ignore, { type Ignore } from 'ignore'
import { type DiskPath, joinName, joinPath } from './disk-name.ts'
import { findGitFolder } from './git-state.ts'

/** Rule files above this are no rule files. */
const MAX_RULES_BYTES = 1024 * 1024

/** Names that may be read in two ways: beyond ASCII, or written as bytes. */
const BEYOND_ASCII = /[^\u0000-\u007f]|(^|\/)b64:/u

/** All patterns that hold for a folder, weakest first, written as if they stood in the root. */
interface Patterns {
  readonly text: Ignore
  /** The same byte by byte: git's `?` stands for one byte, ours for one character. */
  readonly bytes: Ignore
}

interface FolderRules {
  readonly disk: DiskPath
  readonly isIgnored: boolean
  readonly patterns: Patterns
  /** A rule file on the way could not be read: nobody knows what it says of what lies below. */
  readonly unknown: boolean
}

/**
 * What git would ignore, by our own reading of the same files; git is not run and may be broken or missing.
 * Where a rule file can not be read, or holds what is no pattern, everything below counts as ignored: the only
 * thing that follows is that bytes are sealed.
 */
export class IgnoreRules {
  readonly #folders = new Map<RelPath, FolderRules>()
  #unreadable = 0

  constructor(root: string) {
    let patterns: Patterns = { text: newRules(), bytes: newRules() }
    let unknown = false
    const git = findGitFolder(root)
    for (const file of [globalRulesFile(), git === null ? null : join(git.common, 'info', 'exclude')]) {
      if (file === null) continue
      const text = readRules(file)
      if (text === 'unreadable') unknown = true
      else if (text !== null) patterns = addPatterns(patterns, '', text)
    }
    this.#folders.set('', this.#withOwn({ disk: root, isIgnored: false, patterns, unknown }, ''))
  }

  /** How many rule files could not be read. */
  get unreadable(): number {
    return this.#unreadable
  }

  isIgnored(folder: RelPath, name: string, isFolder: boolean): boolean {
    const rules = this.#rulesOf(folder)
    return rules.isIgnored || rules.unknown || this.#matches(rules, joinPath(folder, name), isFolder)
  }

  /** False when nobody knows: what would be left out for it is captured. */
  isSurelyIgnored(folder: RelPath, name: string, isFolder: boolean): boolean {
    return !this.#rulesOf(folder).unknown && this.isIgnored(folder, name, isFolder)
  }

  #rulesOf(folder: RelPath): FolderRules {
    const known = this.#folders.get(folder)
    if (known !== undefined) return known
    const parent = this.#rulesOf(parentOf(folder))
    const made = this.#withOwn(
      {
        disk: joinName(parent.disk, nameOf(folder)),
        // Git does not look into an ignored directory, so nothing below can be taken back in.
        isIgnored: parent.isIgnored || this.#matches(parent, folder, true),
        patterns: parent.patterns,
        unknown: parent.unknown,
      },
      folder,
    )
    this.#folders.set(folder, made)
    return made
  }

  /** Adds the folder's own rule files: `.gitignore`, and of a nested repository its private list. */
  #withOwn(rules: FolderRules, folder: RelPath): FolderRules {
    if (rules.isIgnored) return rules
    const files = [joinName(rules.disk, '.gitignore')]
    if (folder !== '') files.unshift(joinName(joinName(joinName(rules.disk, '.git'), 'info'), 'exclude'))
    let { patterns, unknown } = rules
    for (const file of files) {
      const text = readRules(file)
      if (text === 'unreadable') {
        this.#unreadable++
        unknown = true
      } else if (text !== null) patterns = addPatterns(patterns, folder, text)
    }
    return { ...rules, patterns, unknown }
  }

  /** Where the two readings of a name beyond ASCII differ, it counts as ignored: sealing too much harms nobody. */
  #matches({ patterns }: FolderRules, path: RelPath, isFolder: boolean): boolean {
    const end = isFolder ? '/' : ''
    if (isMatch(patterns.text, path + end)) return true
    return BEYOND_ASCII.test(path) && isMatch(patterns.bytes, toByteText(path) + end)
  }
}

function isMatch(rules: Ignore, path: string): boolean {
  try {
    return rules.ignores(path)
  } catch {
    // A pattern that is none for the library: what it means is not known.
    return true
  }
}

function newRules(): Ignore {
  return ignore({ ignorecase: process.platform !== 'linux', allowRelativePaths: true })
}

/** The patterns of a folder's own file count more than those from above. */
function addPatterns(from: Patterns, base: RelPath, file: string): Patterns {
  const lines = file.replace(/^\ufeff/, '').split(/\r?\n/)
  const bytesOf = (text: string) => Buffer.from(text).toString('latin1')
  return {
    text: newRules()
      .add(from.text)
      .add(lines.map((line) => rebase(line, base))),
    bytes: newRules()
      .add(from.bytes)
      .add(lines.map((line) => rebase(bytesOf(line), toByteText(base)))),
  }
}

/** A line of the file in `base` as it would be written in the root's. */
function rebase(line: string, base: string): string {
  if (base === '' || line.trim() === '' || line.startsWith('#')) return line
  const isNegative = line.startsWith('!')
  const body = isNegative ? line.slice(1) : line
  const place = `/${base.replace(/[\\*?[\]!#]/g, '\\$&')}`
  const isAnchored = body.slice(0, -1).includes('/')
  const between = body.startsWith('/') ? '' : isAnchored ? '/' : '/**/'
  return `${isNegative ? '!' : ''}${place}${between}${body}`
}

/** A written path with one character for each byte of its names. */
function toByteText(path: RelPath): string {
  return path
    .split('/')
    .map((name) => Buffer.from(readName(name) ?? []).toString('latin1'))
    .join('/')
}

/** Text of a rule file, null when there is none. A link is not followed, as git does not. */
function readRules(file: DiskPath): string | null | 'unreadable' {
  let fd: number
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : ''
    return code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP' ? null : 'unreadable'
  }
  try {
    const stat = fstatSync(fd)
    if (!stat.isFile()) return null
    return stat.size > MAX_RULES_BYTES ? 'unreadable' : readFileSync(fd, 'utf8')
  } catch {
    return 'unreadable'
  } finally {
    closeSync(fd)
  }
}

/** `core.excludesFile` of the user's own configuration, or git's default for it. */
function globalRulesFile(): string {
  const user = process.env.HOME ?? homedir()
  const folder = process.env.XDG_CONFIG_HOME ?? join(user, '.config')
  for (const file of [join(user, '.gitconfig'), join(folder, 'git', 'config')]) {
    const text = readRules(file)
    const found = text === null ? null : /^\s*excludesfile\s*=\s*"?([^"\n]+?)"?\s*$/im.exec(text)?.[1]
    if (typeof found === 'string') return found.startsWith('~/') ? join(user, found.slice(2)) : found
  }
  return join(folder, 'git', 'ignore')
}
