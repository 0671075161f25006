import { setTimeout as sleep } from 'node:timers/promises'
import type { ErrorCode } from '@turnback/core'
import { type Git, joinNul, splitNul } from './git.ts'
import { type GitPath, showGitPath } from './git-paths.ts'

/** A file, link or submodule in an index or a commit's tree. */
export interface GitEntry {
  /** Six octal digits. */
  readonly mode: string
  readonly id: string
}

/** The index: what is staged. */
export interface IndexEntries {
  readonly entries: ReadonlyMap<GitPath, GitEntry>
  /** Paths of a merge that nobody has decided yet, each with its sides: `mode id stage`. */
  readonly unmerged: ReadonlyMap<GitPath, readonly string[]>
}

const LOCKED = /index\.lock/
const LOCKED_MS = 10_000
const LOOK_AGAIN_MS = 100

export async function readIndex(git: Git, code: ErrorCode): Promise<IndexEntries> {
  const entries = new Map<GitPath, GitEntry>()
  const unmerged = new Map<GitPath, readonly string[]>()
  for (const line of splitNul(await git.get(code, ['ls-files', '--stage', '-z']))) {
    const [, mode = '', id = '', stage = '', path = ''] = /^(\d+) ([0-9a-f]+) (\d)\t(.*)$/s.exec(line) ?? []
    if (stage === '0') entries.set(path, { mode, id })
    else unmerged.set(path, [...(unmerged.get(path) ?? []), `${mode} ${id} ${stage}`])
  }
  return { entries, unmerged }
}

/** Entries of a commit's tree: all, or those of named paths. Folders are left out when all are asked for. */
export async function readTree(
  git: Git,
  code: ErrorCode,
  commit: string,
  paths: readonly GitPath[] | null = null,
): Promise<Map<GitPath, GitEntry>> {
  const found = new Map<GitPath, GitEntry>()
  const read = async (args: readonly string[]): Promise<void> => {
    for (const line of splitNul(await git.get(code, args))) {
      const [, mode = '', id = '', path = ''] = /^(\d+) \w+ ([0-9a-f]+)\t(.*)$/s.exec(line) ?? []
      found.set(path, { mode, id })
    }
  }
  if (paths === null) await read(['ls-tree', '-r', '-z', '--full-tree', commit])
  else {
    // Arguments are text to Node, so names that are no UTF-8 can not be asked for; then all are read.
    const isText = paths.every((path) => !showGitPath(path).includes('\ufffd'))
    if (!isText) return readTree(git, code, commit)
    for (let at = 0; at < paths.length; at += 400) {
      const some = paths.slice(at, at + 400).map(showGitPath)
      await read(['ls-tree', '-z', '--full-tree', commit, '--', ...some])
    }
  }
  return found
}

/** One path's change between two commits. */
export interface TreeChange {
  readonly path: GitPath
  readonly before: GitEntry | null
  readonly after: GitEntry | null
}

/** @param from null for the empty tree */
export async function readTreeChanges(
  git: Git,
  code: ErrorCode,
  from: string | null,
  to: string,
): Promise<TreeChange[]> {
  if (from === null)
    return [...(await readTree(git, code, to))].map(([path, after]) => ({ path, before: null, after }))
  const args = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', from, to]
  const fields = splitNul(await git.get(code, args))
  const changes: TreeChange[] = []
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [, a = '', b = '', idA = '', idB = ''] =
      /^:(\d+) (\d+) ([0-9a-f]+) ([0-9a-f]+) /.exec(fields[i] ?? '') ?? []
    const entry = (mode: string, id: string): GitEntry | null => (/^0+$/.test(mode) ? null : { mode, id })
    changes.push({ path: fields[i + 1] ?? '', before: entry(a, idA), after: entry(b, idB) })
  }
  return changes
}

/**
 * Sets entries of an index, and nothing else of it. Waits a while for another git that has it locked.
 * @param wanted null takes the entry out; the sides of a merge make it unmerged
 */
export async function writeIndex(
  git: Git,
  code: ErrorCode,
  wanted: ReadonlyMap<GitPath, GitEntry | readonly string[] | null>,
  indexFile?: string,
): Promise<void> {
  if (wanted.size === 0) return
  // What goes makes room for what comes: a file in a folder's place, the sides of a merge in a file's.
  const gone: string[] = []
  const there: string[] = []
  for (const [path, entry] of wanted) {
    if (entry === null || !('mode' in entry)) gone.push(`0 ${git.noId}\t${path}`)
    if (entry === null) continue
    const lines = 'mode' in entry ? [`${entry.mode} ${entry.id}`] : entry
    there.push(...lines.map((line) => `${line}\t${path}`))
  }
  const input = joinNul([...gone, ...there])
  const args = ['update-index', '-z', '--index-info']
  const options = { input, ...(indexFile === undefined ? {} : { indexFile }) }
  for (const until = performance.now() + LOCKED_MS; ; await sleep(LOOK_AGAIN_MS)) {
    const { status, words } = await git.run(args, options)
    if (status === 0) return
    if (!LOCKED.test(words) || performance.now() > until) await git.get(code, args, options)
  }
}

export function equalEntries(a: GitEntry | null | undefined, b: GitEntry | null | undefined): boolean {
  return (a?.mode ?? '') === (b?.mode ?? '') && (a?.id ?? '') === (b?.id ?? '')
}
