import { previewRestore } from '#restore/preview.ts'
import type { Register } from './context.ts'
import { patchBytes, toDiffFiles } from './diff.ts'
import { findTurnByName } from './find-turn.ts'
import { previewInWords } from './preview-words.ts'
import { addScopeOptions, type ScopeOptions, scopeWords, toAsk } from './restore-options.ts'
import { patchesOf, sayLost } from './turn-diff.ts'

export const register: Register = (program, context) => {
  const command = program
    .command('preview')
    .argument('<turn>', 'id, letters of it, number or last')
    .option('--diff', 'with what would change in each file')
    .description('say what a restore would do, and give a token for it')
  addScopeOptions(command, 'own').action(async (name: string, options: ScopeOptions & { diff?: boolean }) => {
    const workspace = context.getWorkspace()
    const { deps } = context
    const { turn, number } = findTurnByName(deps.log, workspace, name)
    const ask = toAsk(context, workspace, { kind: 'turn', turn }, options)
    const isDiff = options.diff === true
    const { preview, plan, head } = await previewRestore(deps, ask, isDiff ? 'store' : 'name-only')
    const isMoved = head.verdict === 'moved'
    if (isMoved)
      context.talk(
        'HEAD is at another commit or branch than the turn ended on: that needs --allow-head-change.',
      )
    const more = [...scopeWords(options), ...(isMoved ? ['--allow-head-change'] : [])]
    const command = ['turnback restore', number, ...more, '--token', preview.token].join(' ')
    const words = () => previewInWords(deps.log, preview, command)
    if (!isDiff) return context.print(preview, words)
    const changes = plan.steps.map(({ path, from, to }) => ({ path, before: from, after: to }))
    const patches = patchesOf(deps, changes, [], sayLost(context))
    if (context.isJson) return context.print({ ...preview, files: toDiffFiles(patches, changes) }, () => '')
    context.printBytes(patchBytes(patches))
    context.print(preview, words)
  })
}
