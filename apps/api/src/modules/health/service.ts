import { DomainError } from '@turnback/core'
import type { Deps } from '#deps.ts'
import { probeDatabase } from './queries.ts'

/** @throws STORAGE_UNAVAILABLE that names the parts which do not answer */
export async function checkReadiness(deps: Deps): Promise<Record<string, 'ok'>> {
  const parts = { database: probeDatabase(deps.db), objects: deps.objects.check() }
  const results = await Promise.allSettled(Object.values(parts))
  const down = Object.keys(parts).filter((_name, n) => results[n]?.status === 'rejected')
  if (down.length > 0) throw new DomainError('STORAGE_UNAVAILABLE', { down })
  return { database: 'ok', objects: 'ok' }
}
