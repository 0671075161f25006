import { previewRestore } from '#restore/preview.ts'
import type { Register } from './context.ts'
import { patchBytes, toDiffFiles } from './diff.ts'
import { findTurnByName } from './find-turn.ts'
import { previewInWords } from './report-words.ts'
import { addScopeOptions, type ScopeOptions, toAsk } from './restore-options.ts'
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
    const { turn } = findTurnByName(deps.log, workspace, name)
    const ask = toAsk(context, workspace, { kind: 'turn', turn }, options)
    const isDiff = options.diff === true
    const { preview, plan, head } = await previewRestore(deps, ask, isDiff ? 'store' : 'name-only')
    if (head.verdict === 'moved') context.talk('HEAD is elsewhere: a restore needs --allow-head-change.')
    if (!isDiff) return context.print(preview, () => previewInWords(preview))
    const changes = plan.steps.map(({ path, from, to }) => ({ path, before: from, after: to }))
    const patches = patchesOf(deps, changes, [], sayLost(context))
    if (context.isJson) return context.print({ ...preview, files: toDiffFiles(patches) }, () => '')
    context.printBytes(patchBytes(patches))
    context.print(preview, () => previewInWords(preview))
  })
}
