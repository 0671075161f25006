import { spawnSync } from 'node:child_process'
import type { HeadFacts, RestorePlan } from '@turnback/core'
import type { Deps, GitState, Workspace } from '#ports.ts'

/**
 * How HEAD stands to where it stood when the work ended that is to be undone (contract rule 9). `forward`: commits
 * were made on top, which is fine and is said, since they stay.
 */
export type HeadVerdict = 'same' | 'forward' | 'moved'

export interface HeadJudgement {
  readonly verdict: HeadVerdict
  readonly then: string | null
  readonly now: string | null
}

export function headFacts(git: GitState): HeadFacts {
  return { head: git.head, branch: git.branch }
}

/** Compares HEAD with HEAD at the end of the latest turn in scope, or of the restore that is taken back. */
export function judgeHead(deps: Deps, workspace: Workspace, plan: RestorePlan, git: GitState): HeadJudgement {
  const latest = plan.takenBack ?? plan.turns.at(-1) ?? plan.target
  const row =
    deps.log.findTurn(latest) ??
    deps.log.listRemovedTurns(workspace.id).find((removed) => removed.turn === latest)
  const then = row?.headAfter ?? null
  const now = git.head
  const judged = (verdict: HeadVerdict): HeadJudgement => ({ verdict, then, now })
  if (git.unreadable || then === now) return judged('same')
  // Git is gone, or was never there when the turn ended: there is nothing to compare.
  if (now === null && git.branch === null) return judged('same')
  if (then === null) return judged('forward')
  const isSameBranch = row?.branch === git.branch
  return judged(isSameBranch && now !== null && isAncestor(workspace.root, then, now) ? 'forward' : 'moved')
}

/** Asks git, read-only, whether one commit lies before another. False when git can not say. */
function isAncestor(root: string, older: string, newer: string): boolean {
  const env: NodeJS.ProcessEnv = {}
  for (const [name, value] of Object.entries(process.env)) if (!name.startsWith('GIT_')) env[name] = value
  const run = spawnSync(
    'git',
    ['--no-optional-locks', '-C', root, 'merge-base', '--is-ancestor', older, newer],
    {
      env: { ...env, LC_ALL: 'C' },
      stdio: 'ignore',
      timeout: 10_000,
    },
  )
  return run.status === 0
}
