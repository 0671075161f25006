import {
  changedPaths,
  findNextRedo,
  findNextUndo,
  type HeadFacts,
  planRestore,
  planToken,
  type RestorePlan,
  type Tree,
  type TurnId,
} from '@turnback/core'
import type { Deps, Lease, Workspace } from '#ports.ts'
import type { RestoreAsk, Target } from './ask.ts'
import { listRestoreFacts, listTurnFacts, type Naming, planInput, sha256 } from './facts.ts'
import { type HeadJudgement, headFacts, judgeHead } from './head.ts'
import { WholeBlobs } from './whole-blobs.ts'

/** A plan with what it was made from. */
export interface Planned {
  readonly plan: RestorePlan
  readonly token: string
  readonly head: HeadFacts
  readonly judgement: HeadJudgement
}

/** What the last look at the tree saw, and that look's number. */
export interface Sight {
  readonly tree: Tree
  readonly scan: number
}

/** Records the present: it is the backup, and what every plan begins with. */
export async function recordPresent(deps: Deps, lease: Lease, workspace: Workspace): Promise<Sight> {
  const { tree, scan } = await deps.capture.scan(lease, workspace)
  return { tree, scan }
}

/** The turn that is meant, or null when undo or redo have nothing left. */
export function findTarget(deps: Deps, workspace: Workspace, target: Target): TurnId | null {
  switch (target.kind) {
    case 'turn':
      return target.turn
    case 'undo': {
      const restores = listRestoreFacts(deps, workspace)
      const removed = deps.log.listRemovedTurns(workspace.id)
      return findNextUndo(listTurnFacts(deps, workspace), restores, target.session, removed)
    }
    case 'redo': {
      const restores = listRestoreFacts(deps, workspace)
      const removed = deps.log.listRemovedTurns(workspace.id)
      return findNextRedo(listTurnFacts(deps, workspace), restores, removed)
    }
  }
}

export async function makePlan(
  deps: Deps,
  ask: RestoreAsk,
  sight: Sight,
  turn: TurnId,
  naming: Naming,
): Promise<Planned> {
  const { workspace, options } = ask
  const content = new WholeBlobs(deps, workspace, naming)
  const input = planInput(deps, workspace, sight.tree, { ...options, target: turn }, content)
  let plan = planRestore(input)
  // A plan without some bytes may ask for others.
  while (await content.answer()) plan = planRestore(input)
  const git = deps.git(workspace.root)
  const head = headFacts(git)
  return {
    plan,
    token: planToken(plan, head, sha256),
    head,
    judgement: judgeHead(deps, workspace, plan, git),
  }
}

/** What a preview keeps of itself, to be held against the plan made when it is agreed to. */
export interface KeptPlan {
  readonly plan: RestorePlan
  readonly head: HeadFacts
}

/** Why a preview no longer holds, or null when it does. */
export function findStaleness(
  then: KeptPlan,
  now: Planned,
): { readonly paths: readonly string[]; readonly head: boolean } | null {
  const paths = changedPaths(then.plan, now.plan)
  const head = then.head.head !== now.head.head || then.head.branch !== now.head.branch
  return paths.length === 0 && !head ? null : { paths, head }
}
