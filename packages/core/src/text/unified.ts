import type { RelPath } from '#path/rel-path.ts'
import type { State } from '#tree/state.ts'
import { isText } from './binary.ts'
import type { Digest } from './digest.ts'
import { diffHunks, HUNK_CONTEXT, type Hunk, hunkId } from './hunks.ts'
import { byteString, bytesOf } from './lines.ts'
import { quoteForGit, rawName, rawPath } from './quote.ts'

/** One end of a file's change, with its bytes when they can be had and are small enough to be compared. */
export interface PatchSide {
  readonly state: State
  /** The file's bytes; null for everything that is not a file, and when they are not to be read. */
  readonly bytes: Uint8Array | null
}

export type FileStatus = 'added' | 'deleted' | 'modified' | 'mode' | 'type'

export interface FilePatch {
  readonly path: RelPath
  readonly status: FileStatus
  readonly additions: number
  readonly deletions: number
  /** True when there is nothing to compare by lines: the bytes are binary, too big or not here. */
  readonly binary: boolean
  /**
   * What `git apply` takes. What git cannot take (binary bytes, a mode that git does not know, a skipped state)
   * stands there as one line of words, which `git apply` passes over. Empty for directories.
   */
  readonly patch: Uint8Array
  readonly hunks: readonly { readonly id: string; readonly header: string }[]
}

/** A regular file or link as git sees it: its mode, and its content as text if it is text. */
interface GitSide {
  readonly mode: '100644' | '100755' | '120000'
  readonly text: Uint8Array | null
}

/** The unified patch of one path's change. */
export function filePatch(
  path: RelPath,
  before: PatchSide,
  after: PatchSide,
  sha256: Digest,
  context: number = HUNK_CONTEXT,
): FilePatch {
  const sections = sectionsOf(path, before, after, context)
  const hunks = sections.flatMap((section) => section.hunks)
  return {
    path,
    status: statusOf(before.state, after.state),
    additions: hunks.reduce((sum, hunk) => sum + hunk.additions, 0),
    deletions: hunks.reduce((sum, hunk) => sum + hunk.deletions, 0),
    binary: isBinaryChange(before, after),
    patch: bytesOf(
      sections.map((section) => section.head + section.hunks.map((hunk) => hunk.text).join('')).join(''),
    ),
    hunks: hunks.map((hunk) => ({ id: hunkId(hunk, sha256), header: hunk.header })),
  }
}

function statusOf(before: State, after: State): FileStatus {
  if (before.kind === 'absent') return 'added'
  if (after.kind === 'absent') return 'deleted'
  if (before.kind !== after.kind) return 'type'
  if (before.kind === 'file' && after.kind === 'file' && before.blob === after.blob) return 'mode'
  if (before.kind === 'dir') return 'mode'
  return 'modified'
}

function isBinaryChange(before: PatchSide, after: PatchSide): boolean {
  if (before.state.kind === 'file' && after.state.kind === 'file' && before.state.blob === after.state.blob)
    return false
  return [before, after].some((side) => side.state.kind === 'file' && gitSide(side)?.text === null)
}

interface Section {
  readonly head: string
  readonly hunks: readonly Hunk[]
}

function sectionsOf(path: RelPath, before: PatchSide, after: PatchSide, context: number): Section[] {
  const old = gitSide(before)
  const now = gitSide(after)
  const skipped = [before.state, after.state].find((state) => state.kind === 'skipped')
  if (skipped !== undefined) return [words(`Not captured: ${displayName(path)} (${skipped.reason})`)]
  if (old === null && now === null) return []
  // git has no patch that turns a file into a link: it takes one away and makes the other.
  const isOtherType = old !== null && now !== null && (old.mode === '120000') !== (now.mode === '120000')
  if (isOtherType) return [...section(path, old, null, context), ...section(path, null, now, context)]
  const sections = section(path, old, now, context)
  const { state: a } = before
  const { state: b } = after
  const isUnseenMode = a.kind === 'file' && b.kind === 'file' && a.mode !== b.mode && old?.mode === now?.mode
  if (isUnseenMode)
    sections.push(words(`Mode of ${displayName(path)} was ${octal(a.mode)}, is ${octal(b.mode)}`))
  return sections
}

function section(path: RelPath, old: GitSide | null, now: GitSide | null, context: number): Section[] {
  const name = byteString(rawPath(path))
  const isSameMode = old?.mode === now?.mode
  if ((old !== null && old.text === null) || (now !== null && now.text === null)) {
    const a = old === null ? '/dev/null' : quoteForGit(`a/${name}`)
    const b = now === null ? '/dev/null' : quoteForGit(`b/${name}`)
    return [words(`Binary files ${a} and ${b} differ`)]
  }
  const hunks = diffHunks(old?.text ?? new Uint8Array(0), now?.text ?? new Uint8Array(0), context)
  if (old !== null && now !== null && isSameMode && hunks.length === 0) return []
  let head = `diff --git ${quoteForGit(`a/${name}`)} ${quoteForGit(`b/${name}`)}\n`
  if (old === null) head += `new file mode ${now?.mode}\n`
  else if (now === null) head += `deleted file mode ${old.mode}\n`
  else if (!isSameMode) head += `old mode ${old.mode}\nnew mode ${now.mode}\n`
  if (hunks.length > 0) {
    head += `--- ${old === null ? '/dev/null' : fileName(`a/${name}`)}\n+++ ${now === null ? '/dev/null' : fileName(`b/${name}`)}\n`
  }
  return [{ head, hunks }]
}

/** After a name with a space git puts a tab, so that what follows is not taken for a date. */
function fileName(name: string): string {
  return quoteForGit(name) + (name.includes(' ') ? '\t' : '')
}

/** Words between patches: no line of a patch begins like them. */
function words(text: string): Section {
  return { head: `${text}\n`, hunks: [] }
}

function displayName(path: RelPath): string {
  return quoteForGit(byteString(rawPath(path)))
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0')
}

function gitSide(side: PatchSide): GitSide | null {
  switch (side.state.kind) {
    case 'file':
      return {
        mode: (side.state.mode & 0o100) === 0 ? '100644' : '100755',
        text: side.bytes !== null && isText(side.bytes) ? side.bytes : null,
      }
    case 'symlink':
      return { mode: '120000', text: rawName(side.state.target) }
    case 'dir':
    case 'absent':
    case 'skipped':
      return null
  }
}
