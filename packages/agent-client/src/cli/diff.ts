import { concatBytes, DomainError, type FilePatch, isSealed, type RelPath, type State } from '@turnback/core'
import type { TurnRow, Workspace } from '#ports.ts'
import type { Context, Register } from './context.ts'
import { lookAtTurn } from './look-at-turn.ts'
import { toRelPath } from './paths.ts'
import { changesBetween, changesOfTurn, patchesOf, sayLost } from './turn-diff.ts'
import { onOneLine } from './visible.ts'

export const register: Register = (program, context) => {
  program
    .command('diff')
    .argument('<turn>', 'id, letters of it, number or last')
    .argument('[turn-or-path...]', 'another turn, to compare the two ends; files or folders')
    .option('--stat', 'names and counts only')
    .description('what a turn changed, as a patch that `git apply` takes')
    .action(async (name: string, more: string[], options: { stat?: boolean }) => {
      const workspace = context.getWorkspace()
      const { deps } = context
      const turn = await lookAtTurn(context, workspace, name)
      const { other, paths } = await sortOut(context, workspace, more)
      const changes =
        other === null ? changesOfTurn(deps, workspace, turn) : changesBetween(deps, workspace, turn, other)
      const patches = patchesOf(deps, changes, paths, sayLost(context))
      if (context.isJson) return context.print({ files: toDiffFiles(patches, changes) }, () => '')
      if (options.stat === true) return context.print({}, () => patches.map(statLine).join('\n'))
      context.printBytes(patchBytes(patches))
    })
}

/** The second word is a turn if it names one; everything else is a path. */
async function sortOut(
  context: Context,
  workspace: Workspace,
  words: readonly string[],
): Promise<{ readonly other: TurnRow | null; readonly paths: RelPath[] }> {
  const [second] = words
  const other = second === undefined ? null : await findTurn(context, workspace, second)
  const paths = (other === null ? words : words.slice(1)).map((typed) =>
    toRelPath(workspace, context.folder, typed),
  )
  return { other, paths: paths.includes('') ? [] : paths }
}

/** Only what looks like a turn's name is looked up: letters of an id alone could as well be a file. */
async function findTurn(context: Context, workspace: Workspace, word: string): Promise<TurnRow | null> {
  if (!/^(?:@?[0-9]+|last|t_[0-9a-z]+)$/.test(word)) return null
  try {
    return await lookAtTurn(context, workspace, word)
  } catch (error) {
    if (error instanceof DomainError && error.code === 'TURN_NOT_FOUND' && !word.startsWith('t_')) return null
    throw error
  }
}

/** One file of `diff --json`. A patch that is not UTF-8 is shown as far as it can be; the bytes are on the plain output. */
export interface DiffFile extends Omit<FilePatch, 'patch'> {
  readonly patch: string
  /** Its bytes are kept sealed, before or after: they are not for everybody's eyes. */
  readonly sealed: boolean
}

interface Changed {
  readonly path: RelPath
  readonly before: State
  readonly after: State
}

export function toDiffFiles(patches: readonly FilePatch[], changes: readonly Changed[]): DiffFile[] {
  const sealed = new Set(
    changes
      .filter(({ before, after }) =>
        [before, after].some((state) => state.kind === 'file' && isSealed(state.blob)),
      )
      .map(({ path }) => path),
  )
  return patches.map((file) => ({
    ...file,
    patch: Buffer.from(file.patch).toString('utf8'),
    sealed: sealed.has(file.path),
  }))
}

export function patchBytes(patches: readonly FilePatch[]): Uint8Array {
  return concatBytes(patches.map((file) => file.patch))
}

function statLine({ path, status, additions, deletions, binary }: FilePatch): string {
  return `${status.padEnd(8)} ${binary ? 'binary' : `+${additions} -${deletions}`} ${onOneLine(path)}`
}
