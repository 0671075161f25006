import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import type { ClientDeps } from '#deps.ts'
import { listRestoreFactsOf } from '#restore/facts.ts'
import type { GcParts } from '#store/gc.ts'
import { findConnection } from '#sync/login.ts'

/** What gc works with, from the client's own parts. */
export function gcParts(
  deps: ClientDeps,
  env: Readonly<Record<string, string | undefined>>,
  more: Partial<GcParts> = {},
): GcParts {
  const { config, db, packs, log, packedBlobs, leases } = deps
  return {
    ...{ db, packs, log, leases, blobs: packedBlobs, store: deps.home.store, isDryRun: false },
    limits: {
      retentionDays: config.retentionDays,
      retentionTurns: config.retentionTurns,
      budgetBytes: config.diskBudgetBytes,
    },
    isLoggedIn: findConnection(deps.home, env) !== null,
    nowMs: deps.clock.nowMs(),
    listRestoreFacts: (workspace) => listRestoreFactsOf(log, workspace),
    progress: () => {},
    async pause() {
      await turnOfTheLoop()
      return false
    },
    ...more,
  }
}
