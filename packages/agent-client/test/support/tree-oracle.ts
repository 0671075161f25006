import { createHash } from 'node:crypto'
import { closeSync, constants, lstatSync, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'

/**
 * A second reading of what a capture must find, written from docs/format.md alone: it reads every byte each time, keeps
 * no stamps, and shares no code with the client. Names are in their written form, states are one line each.
 */
export interface View {
  /** `file MODE SHA256 SIZE`, `symlink TARGET`, `dir MODE` or `skipped REASON`, by path. */
  readonly states: ReadonlyMap<string, string>
  /** Directories whose names could not be read: below them nothing is known to be absent. */
  readonly closed: ReadonlySet<string>
}

export interface Difference {
  readonly path: string
  readonly before: string
  readonly after: string
}

/** Left out whole wherever they are, as long as they are directories. */
const GENERATED: ReadonlySet<string> = new Set(['node_modules', '__pycache__'])

/**
 * @param before the view before, or null for the first one
 * @param ignoredAtFirst an ambiguous directory name that git ignored when the tree was first looked at, or null
 */
export function viewTree(root: string, before: View | null, ignoredAtFirst: string | null): View {
  const states = new Map<string, string>()
  const closed = new Set<string>()
  const isLeftOut = (path: string, name: string): boolean => {
    if (GENERATED.has(name)) return true
    if (name !== ignoredAtFirst) return false
    const was = before?.states.get(path)
    return before === null || was === 'skipped excluded-directory'
  }
  const keepBelow = (path: string): void => {
    closed.add(path)
    for (const [each, state] of before?.states ?? []) if (each.startsWith(`${path}/`)) states.set(each, state)
    for (const each of before?.closed ?? []) if (each.startsWith(`${path}/`)) closed.add(each)
  }
  const walk = (disk: Buffer, below: string): void => {
    for (const name of readdirSync(disk, { encoding: 'buffer' })) {
      if (below === '' && name.toString() === '.git') continue
      const at = Buffer.concat([disk, Buffer.from('/'), name])
      const path = below + written(name)
      const stat = lstatSync(at)
      const mode = (stat.mode & 0o7777).toString(8)
      if (name.toString() === '.git') states.set(path, 'skipped nested-git-dir')
      else if (stat.isDirectory() && isLeftOut(path, written(name)))
        states.set(path, 'skipped excluded-directory')
      else if (stat.isDirectory()) {
        states.set(path, `dir ${mode}`)
        if (isOpen(at)) walk(at, `${path}/`)
        else keepBelow(path)
      } else if (stat.isSymbolicLink()) states.set(path, `symlink ${written(readlinkSync(at, 'buffer'))}`)
      else if (stat.isFile()) states.set(path, fileState(at, mode))
      else states.set(path, 'skipped special-file')
    }
  }
  walk(Buffer.from(root), '')
  return { states, closed }
}

/** What one turn did between two views, as its manifest must list it. */
export function diffViews(before: View, after: View): Difference[] {
  const paths = [...new Set([...before.states.keys(), ...after.states.keys()])].sort()
  return paths.flatMap((path) => {
    const was = before.states.get(path) ?? (isBelow(path, before.closed) ? 'skipped unreadable' : 'absent')
    const is = after.states.get(path) ?? 'absent'
    return was === is ? [] : [{ path, before: was, after: is }]
  })
}

function isBelow(path: string, folders: ReadonlySet<string>): boolean {
  for (const folder of folders) if (path.startsWith(`${folder}/`)) return true
  return false
}

function fileState(at: Buffer, mode: string): string {
  let fd: number
  try {
    fd = openSync(at, constants.O_RDONLY | constants.O_NOFOLLOW)
  } catch {
    return 'skipped unreadable'
  }
  const bytes = readFileSync(fd)
  closeSync(fd)
  return `file ${mode} ${createHash('sha256').update(bytes).digest('hex')} ${bytes.length}`
}

/** Names can be listed and what they name can be looked at. */
function isOpen(folder: Buffer): boolean {
  try {
    for (const name of readdirSync(folder, { encoding: 'buffer' }))
      lstatSync(Buffer.concat([folder, Buffer.from('/'), name]))
    return true
  } catch {
    return false
  }
}

function written(bytes: Buffer): string {
  let text: string | null = null
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    // Not UTF-8: written as bytes.
  }
  return text === null || text.startsWith('b64:') ? `b64:${bytes.toString('base64url')}` : text
}
