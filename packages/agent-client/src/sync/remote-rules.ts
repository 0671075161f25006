import { type Authoriser, DomainError, limits, type Preview, type RestoreCommit } from '@turnback/core'
import type { Policy } from './policy.ts'
import type { RemotePlan } from './remote-plans.ts'

/** A person's sign-in counts this long for a restore on their own machine. */
const SIGN_IN_HOURS = 12
/** Clocks of machine and service may differ by this much. */
const CLOCK_SLACK_MS = limits.signatureSkewSeconds * 1000

/** How many paths a restore would write or remove. */
export function countFiles(preview: Preview): number {
  return preview.restore.length + preview.delete.length + preview.merge.length
}

/** Why this machine makes no plan for that request, or null. */
export function findPlanRefusal(policy: Policy): DomainError | null {
  if (policy.remote !== 'off') return null
  return refused('This machine takes no restores from afar (its policy is `remote off`).')
}

/** Whether the plan may be applied by the same tap that asked for it. */
export function mayRunAtOnce(
  policy: Policy,
  preview: Preview,
  asked: { readonly by: Authoriser; readonly atMs: number },
  nowMs: number,
): boolean {
  const isClean =
    preview.conflicts.length === 0 &&
    preview.alsoUndoes.length === 0 &&
    preview.sensitive.length === 0 &&
    preview.head.then === preview.head.now
  const isFresh = nowMs - asked.atMs <= limits.queuedRunSeconds * 1000
  return policy.remote === 'owner' && isClean && isFresh && findAuthoriserRefusal(asked.by, nowMs) === null
}

/** Why a word to write is not followed, or null when it is. Pure: the plan is taken afterwards, once. */
export function findCommitRefusal(
  commit: RestoreCommit,
  plan: RemotePlan,
  facts: {
    readonly policy: Policy
    readonly usedInLastHour: number
    readonly isTooOld: boolean
    readonly nowMs: number
  },
): DomainError | null {
  if (plan.state !== 'planned' || facts.isTooOld) return new DomainError('PLAN_UNKNOWN')
  if (plan.token === null || commit.token !== plan.token) {
    return new DomainError(
      'TOKEN_STALE',
      {},
      { message: 'What was confirmed is not the plan that this machine made.' },
    )
  }
  return (
    findAuthoriserRefusal(commit.authorisedBy, facts.nowMs) ??
    findPolicyRefusal(facts.policy, plan) ??
    findRateRefusal(plan, facts.usedInLastHour)
  )
}

/**
 * Why a yes that is given at this machine's own keyboard is not followed, or null. All that a word from afar is held
 * against but who sent it and when they signed in: whoever types here may restore by themselves, too.
 */
export function findApprovalRefusal(
  plan: RemotePlan,
  facts: { readonly policy: Policy; readonly usedInLastHour: number; readonly isTooOld: boolean },
): DomainError | null {
  if (plan.state !== 'planned' || plan.token === null || facts.isTooOld)
    return new DomainError('PLAN_UNKNOWN')
  if (facts.policy.remote === 'off') return findPolicyRefusal(facts.policy, plan)
  return findRateRefusal(plan, facts.usedInLastHour)
}

function findAuthoriserRefusal(by: Authoriser, nowMs: number): DomainError | null {
  if (by.kind !== 'user') return refused('A token cannot have this machine restore anything.')
  if (!by.isOwner) return refused('Only the owner of this machine can have it restore something.')
  const signedInMs = by.signedInAt === null ? Number.NaN : Date.parse(by.signedInAt)
  const age = nowMs - signedInMs
  // Not a number is not in the range either.
  if (!(age >= -CLOCK_SLACK_MS && age <= SIGN_IN_HOURS * 3_600_000)) {
    return refused(`The sign-in is older than ${SIGN_IN_HOURS} hours; sign in again and confirm once more.`)
  }
  return null
}

function findPolicyRefusal(policy: Policy, plan: RemotePlan): DomainError | null {
  switch (policy.remote) {
    case 'owner':
      return null
    case 'off':
      return refused('This machine takes no restores from afar (its policy is `remote off`).')
    case 'ask':
      return refused(
        `This machine wants the word given at its own keyboard: run \`${localCommand(plan)}\` there, in the workspace’s folder.`,
      )
    case 'owner-passkey':
      return refused('This machine wants a passkey’s signature, which this version cannot check yet.')
  }
}

function findRateRefusal(plan: RemotePlan, usedInLastHour: number): DomainError | null {
  if (usedInLastHour >= limits.remoteRestoresPerHour) {
    return new DomainError(
      'RATE_LIMITED',
      { perHour: limits.remoteRestoresPerHour },
      {
        message: `This machine does ${limits.remoteRestoresPerHour} restores from afar in an hour, no more.`,
      },
    )
  }
  return findSizeRefusal(plan.files)
}

/** Why a restore of so many files is not done from afar, or null. */
export function findSizeRefusal(files: number): DomainError | null {
  if (files <= limits.remoteRestoreFiles) return null
  return refused(
    `A restore from afar touches ${limits.remoteRestoreFiles} files at most; this one ${files}. Run it on the machine.`,
  )
}

/** What to type on the machine to do what was asked for from afar. */
export function localCommand(plan: Pick<RemotePlan, 'request' | 'token'>): string {
  const { request } = plan
  const scope = {
    turn: ' --only',
    session: ' --session',
    'all-sessions': ' --all-sessions',
    'from-turn': '',
  }[request.scope]
  const paths = (request.paths ?? []).map((path) => ` --path ${quote(path)}`).join('')
  const hunks = (request.hunks ?? []).map(({ path, id }) => ` --hunk ${quote(`${path}:${id}`)}`).join('')
  const exact = request.exact ? ' --exact' : ''
  const conflict = request.onConflict === 'keep' ? '' : ` --on-conflict ${request.onConflict}`
  const head = request.allowHeadChange ? ' --allow-head-change' : ''
  const token = plan.token === null ? '' : ` --token ${plan.token}`
  return `turnback restore ${request.turn}${scope}${paths}${hunks}${exact}${conflict}${head}${token}`
}

function quote(text: string): string {
  return /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}

function refused(message: string): DomainError {
  return new DomainError('POLICY_REFUSED', {}, { message })
}
