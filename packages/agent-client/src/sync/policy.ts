import { join } from 'node:path'
import { DomainError, remotePolicySchema } from '@turnback/core'
import { z } from 'zod'
import type { Home } from '#ports.ts'
import { readStateFile, writeStateFile } from '#store/state-file.ts'

/**
 * What this machine lets others ask of it. It lies in a file here and is changed by the command line here; no
 * message from a service reads or writes it.
 */
export const policySchema = z.strictObject({
  remote: remotePolicySchema,
  /** May other people ask for restores here. */
  others: z.enum(['never', 'request']),
  /** May programs commit restores here. */
  ci: z.enum(['never', 'own-checkpoints']),
})
export type Policy = z.infer<typeof policySchema>

export const DEFAULT_POLICY: Policy = { remote: 'ask', others: 'never', ci: 'never' }
/** What holds when the file cannot be understood: nothing is allowed that nobody is known to have allowed. */
const CLOSED_POLICY: Policy = { remote: 'off', others: 'never', ci: 'never' }

/** Values that a later version brings; to set one of them now would promise what is not kept. */
const NOT_YET: ReadonlySet<string> = new Set(['remote owner-passkey', 'others request', 'ci own-checkpoints'])

export function policyFile(home: Home): string {
  return join(home.config, 'policy.json')
}

export function isPolicySet(home: Home): boolean {
  return readStateFile(policyFile(home), policySchema).kind !== 'absent'
}

export function loadPolicy(home: Home): Policy {
  const file = readStateFile(policyFile(home), policySchema)
  switch (file.kind) {
    case 'there':
      return file.value
    case 'absent':
      return DEFAULT_POLICY
    case 'damaged':
      return CLOSED_POLICY
  }
}

/** @throws USAGE for a key or value that there is not, or not yet */
export function changePolicy(home: Home, key: string, value: string): Policy {
  const policy = parseChange(loadPolicy(home), key, value)
  writeStateFile(policyFile(home), policy)
  return policy
}

/** The policy with one key changed. @throws USAGE */
export function parseChange(policy: Policy, key: string, value: string): Policy {
  if (!Object.hasOwn(policySchema.shape, key)) {
    throw new DomainError(
      'USAGE',
      { key },
      { message: `There is no policy "${key}"; there are remote, others and ci.` },
    )
  }
  if (NOT_YET.has(`${key} ${value}`)) {
    throw new DomainError(
      'USAGE',
      { key, value },
      { message: `"${value}" is not available yet; nothing was changed.` },
    )
  }
  const changed = policySchema.safeParse({ ...policy, [key]: value })
  if (!changed.success) {
    throw new DomainError(
      'USAGE',
      { key, value },
      { message: `"${value}" is no value of the policy ${key}.` },
    )
  }
  return changed.data
}
