import { isSealed } from '#blob/blob-id.ts'
import type { RelPath } from '#path/rel-path.ts'
import type { State } from '#tree/state.ts'
import type { Preview } from './report.ts'
import type { RestorePlan } from './restore-plan.ts'
import { isSensitiveChange } from './sensitive.ts'

/** What a plan does not know itself. */
export type PreviewFacts = Pick<Preview, 'token' | 'irreversible' | 'head'>

/** The plan as it is shown: lists of files and links by what will happen to them. */
export function previewOf(plan: RestorePlan, facts: PreviewFacts): Preview {
  const named = (list: 'restored' | 'deleted' | 'merged'): RelPath[] =>
    plan.steps
      .filter((step) => step.list === list)
      .map((step) => step.path)
      .sort()
  const kept = new Map([...plan.kept, ...plan.conflicts].map((item) => [item.path, item]))
  const sealed = plan.steps.filter((step) => isSealedState(step.from) || isSealedState(step.to))
  return {
    token: facts.token,
    restore: named('restored'),
    delete: named('deleted'),
    merge: named('merged'),
    conflicts: [...kept.values()].sort((a, b) => (a.path < b.path ? -1 : 1)),
    skipped: [...plan.skipped],
    unchanged: plan.settled.length,
    undoes: [...plan.undoes],
    alsoUndoes: [...plan.alsoUndoes],
    irreversible: facts.irreversible,
    head: facts.head,
    sensitive: plan.steps
      .filter((step) => isSensitiveChange(step.path, step.from, step.to))
      .map((step) => step.path)
      .sort(),
    sealed: sealed.map((step) => step.path).sort(),
  }
}

function isSealedState(state: State): boolean {
  return state.kind === 'file' && isSealed(state.blob)
}
