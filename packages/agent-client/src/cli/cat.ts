import { DomainError } from '@turnback/core'
import type { Register } from './context.ts'
import { lookAtTurn } from './look-at-turn.ts'
import { toRelPath } from './paths.ts'
import { changesOfTurn } from './turn-diff.ts'

export const register: Register = (program, context) => {
  program
    .command('cat')
    .argument('<turn>', 'id, letters of it, number or last')
    .argument('<path>', 'a file that the turn changed')
    .option('--before', 'as it was before the turn')
    .option('--after', 'as the turn left it (this is the default)')
    .description('print the bytes of a file before or after a turn')
    .action(async (name: string, typed: string, options: { before?: boolean; after?: boolean }) => {
      if (options.before === true && options.after === true) {
        throw new DomainError('USAGE', {}, { message: 'Choose --before or --after.' })
      }
      const workspace = context.getWorkspace()
      const { deps } = context
      const path = toRelPath(workspace, context.folder, typed)
      const row = await lookAtTurn(context, workspace, name)
      const { turn } = row
      const entry = changesOfTurn(deps, workspace, row).find((each) => each.path === path)
      if (entry === undefined) throw new DomainError('PATH_NOT_FOUND', { turn, path })
      const state = options.before === true ? entry.before : entry.after
      if (state.kind !== 'file') throw new DomainError('BLOB_NOT_FOUND', { turn, path, kind: state.kind })
      const bytes = deps.blobs.read(state.blob)
      if (!context.isJson) return context.printBytes(bytes)
      const base64 = Buffer.from(bytes).toString('base64')
      context.print({ path, blob: state.blob, sizeBytes: bytes.length, base64 }, () => '')
    })
}
