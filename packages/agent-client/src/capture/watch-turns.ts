import { setTimeout as sleep } from 'node:timers/promises'
import { DomainError, type TurnId } from '@turnback/core'
import type { Deps } from '#ports.ts'

type Note = (event: string, facts: Readonly<Record<string, unknown>>) => void

const LOOK_MS = 2000

/**
 * Looks after open turns as long as it is not aborted: those whose agent ended, or went silent, are closed as `lost`.
 * What is found once is done when it is found again: an agent's last word may be on its way when its process has gone.
 */
export async function watchTurns(
  deps: Pick<Deps, 'log' | 'capture'>,
  note: Note,
  signal: AbortSignal,
  everyMs: number = LOOK_MS,
): Promise<void> {
  let before: ReadonlySet<TurnId> = new Set()
  while (!signal.aborted) {
    before = await lookOnce(deps, note, before)
    await sleep(everyMs, undefined, { signal, ref: false }).catch(() => undefined)
  }
}

async function lookOnce(
  { log, capture }: Pick<Deps, 'log' | 'capture'>,
  note: Note,
  before: ReadonlySet<TurnId>,
): Promise<ReadonlySet<TurnId>> {
  const found = new Set<TurnId>()
  try {
    for (const workspace of log.listWorkspaces()) {
      const left = capture.listLeftBehind(workspace)
      for (const turn of left) found.add(turn)
      if (!left.some((turn) => before.has(turn))) continue
      for (const turn of await capture.lookAfter(workspace, before)) note('turn-lost', { turn })
    }
  } catch (error) {
    // A full disk, a folder that is gone: the next look tries again, and nobody waits for this one.
    if (!(error instanceof DomainError)) throw error
    note('turns-not-looked-after', { code: error.code, message: error.message })
  }
  return found
}
