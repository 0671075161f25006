import { limits, type Preview, type RestoreCommit } from '@turnback/core'
import { describe, expect, it } from 'vitest'
import { DEFAULT_POLICY, type Policy } from './policy.ts'
import type { RemotePlan } from './remote-plans.ts'
import { findCommitRefusal, findPlanRefusal, localCommand, mayRunAtOnce } from './remote-rules.ts'

const NOW = Date.parse('2026-11-30T12:00:00.000Z')
const HOUR = 3_600_000
const at = (ms: number) => new Date(ms).toISOString()
const id = (n: number) => String(n).padStart(26, '0')

const owner: Policy = { ...DEFAULT_POLICY, remote: 'owner' }
const person = { kind: 'user', name: 'Ada', isOwner: true, signedInAt: at(NOW - HOUR) } as const
const commit: RestoreCommit = {
  type: 'restore.commit',
  id: `c_${id(1)}`,
  restore: `r_${id(1)}`,
  token: 'T0KEN',
  authorisedBy: person,
}
const plan: RemotePlan = {
  restore: `r_${id(1)}`,
  command: `c_${id(0)}`,
  request: {
    workspace: `w_${id(1)}`,
    turn: `t_${id(1)}`,
    scope: 'from-turn',
    exact: false,
    onConflict: 'keep',
    mode: 'run',
    allowHeadChange: false,
  },
  requestedBy: { kind: 'user', name: 'Ada' },
  receivedAtMs: NOW,
  state: 'planned',
  plannedAtMs: NOW,
  usedAtMs: null,
  token: 'T0KEN',
  files: 5,
  isDelivered: true,
  isReported: false,
}
const facts = { policy: owner, usedInLastHour: 0, isTooOld: false, nowMs: NOW }
const clean: Preview = {
  token: 'T0KEN',
  restore: ['a'],
  delete: [],
  merge: [],
  conflicts: [],
  skipped: [],
  unchanged: 0,
  undoes: [],
  alsoUndoes: [],
  irreversible: [],
  head: { then: 'abc', now: 'abc' },
  sensitive: [],
  sealed: [],
}

describe('a word to write', () => {
  it('is followed when everything is as it should be', () => {
    expect(findCommitRefusal(commit, plan, facts)).toBeNull()
    const longAgo = { ...commit, authorisedBy: { ...person, signedInAt: at(NOW - 12 * HOUR) } }
    expect(findCommitRefusal(longAgo, plan, facts)).toBeNull()
  })

  it.each([
    ['another token', { token: 'T0KEN2' }, {}, {}, 'TOKEN_STALE'],
    ['a plan that was used', {}, { state: 'used' }, {}, 'PLAN_UNKNOWN'],
    ['a plan that was cancelled', {}, { state: 'closed' }, {}, 'PLAN_UNKNOWN'],
    ['a plan that is not made yet', {}, { state: 'asked', token: null }, {}, 'PLAN_UNKNOWN'],
    ['a plan that is too old', {}, {}, { isTooOld: true }, 'PLAN_UNKNOWN'],
    [
      'a token of a program',
      { authorisedBy: { ...person, kind: 'token', signedInAt: null } },
      {},
      {},
      'POLICY_REFUSED',
    ],
    ['somebody else', { authorisedBy: { ...person, isOwner: false } }, {}, {}, 'POLICY_REFUSED'],
    [
      'a sign-in of yesterday',
      { authorisedBy: { ...person, signedInAt: at(NOW - 12 * HOUR - 1) } },
      {},
      {},
      'POLICY_REFUSED',
    ],
    [
      'a sign-in to come',
      { authorisedBy: { ...person, signedInAt: at(NOW + HOUR) } },
      {},
      {},
      'POLICY_REFUSED',
    ],
    ['no sign-in', { authorisedBy: { ...person, signedInAt: null } }, {}, {}, 'POLICY_REFUSED'],
    ['the policy off', {}, {}, { policy: { ...owner, remote: 'off' } }, 'POLICY_REFUSED'],
    ['the policy ask', {}, {}, { policy: { ...owner, remote: 'ask' } }, 'POLICY_REFUSED'],
    ['the policy owner-passkey', {}, {}, { policy: { ...owner, remote: 'owner-passkey' } }, 'POLICY_REFUSED'],
    ['the seventh in an hour', {}, {}, { usedInLastHour: limits.remoteRestoresPerHour }, 'RATE_LIMITED'],
    ['too many files', {}, { files: limits.remoteRestoreFiles + 1 }, {}, 'POLICY_REFUSED'],
  ] as const)('is not followed with %s', (_, ofCommit, ofPlan, ofFacts, code) => {
    const refusal = findCommitRefusal(
      { ...commit, ...ofCommit },
      { ...plan, ...ofPlan },
      { ...facts, ...ofFacts },
    )
    expect(refusal?.code).toBe(code)
  })

  it('under `ask` says what to type on the machine', () => {
    const asked: RemotePlan = { ...plan, request: { ...plan.request, scope: 'turn', paths: ["it's.txt"] } }
    const refusal = findCommitRefusal(commit, asked, { ...facts, policy: DEFAULT_POLICY })
    expect(refusal?.message).toContain(
      `turnback restore t_${id(1)} --only --path 'it'\\''s.txt' --token T0KEN`,
    )
    expect(localCommand(plan)).toBe(`turnback restore t_${id(1)} --token T0KEN`)
  })
})

describe('a plan', () => {
  it('is not made at all under `off`', () => {
    expect(findPlanRefusal({ ...owner, remote: 'off' })?.code).toBe('POLICY_REFUSED')
    expect(findPlanRefusal(DEFAULT_POLICY)).toBeNull()
  })

  const asked = { by: person, atMs: NOW - 1000 }
  it('may run by the tap that asked for it, when clean, fresh and the owner’s', () => {
    expect(mayRunAtOnce(owner, clean, asked, NOW)).toBe(true)
  })

  const others: readonly [string, Policy, Partial<Preview>, object][] = [
    ['under ask', DEFAULT_POLICY, {}, {}],
    ['with a conflict', owner, { conflicts: [{ path: 'a', reason: 'changed-after-turn' }] }, {}],
    ['when it undoes more', owner, { alsoUndoes: [{ path: 'a', turn: `t_${id(2)}` }] }, {}],
    ['with a sensitive path', owner, { sensitive: ['package.json'] }, {}],
    ['when HEAD moved', owner, { head: { then: 'abc', now: 'def' } }, {}],
    ['when it was queued for long', owner, {}, { atMs: NOW - 61_000 }],
    ['for somebody else', owner, {}, { by: { ...person, isOwner: false } }],
    ['for a program', owner, {}, { by: { ...person, kind: 'token' } }],
  ]
  it.each(others)('waits for another look %s', (_, policy, ofPreview, ofAsked) => {
    expect(mayRunAtOnce(policy, { ...clean, ...ofPreview }, { ...asked, ...ofAsked }, NOW)).toBe(false)
  })
})
