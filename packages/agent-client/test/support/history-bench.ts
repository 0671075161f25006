import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ClientDeps, openDeps } from '#deps.ts'
import { runHere } from './command-here.ts'
import { MAX_FILE_BYTES } from './tree-of-states.ts'

export type ChangeDeps = (deps: ClientDeps) => ClientDeps

/** A store with a client on it, for histories that are played one after the other, each in a tree of its own. */
export interface Bench {
  readonly env: Readonly<Record<string, string>>
  readonly deps: ClientDeps
  readonly probe: string
  makeTree(): string
  run(root: string, args: readonly string[]): ReturnType<typeof runHere>
  passMinutes(minutes: number): void
  /** Whether the client's clock is ahead of the disk's. */
  isAhead(): boolean
  close(): void
}

/** @param change what of the client is to be another, for tests of the tests */
export function openBench(change: ChangeDeps = (deps) => deps): Bench {
  // Many small trees are quick where they lie in memory, as far as there is such a place.
  const place = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
  const top = realpathSync(mkdtempSync(join(place, 'turnback-history-')))
  const env = { PATH: process.env.PATH ?? '', HOME: join(top, 'user'), TURNBACK_HOME: join(top, 'home') }
  mkdirSync(env.TURNBACK_HOME)
  writeFileSync(join(env.TURNBACK_HOME, 'config.json'), JSON.stringify({ maxFileBytes: MAX_FILE_BYTES }))
  let aheadMs = 0
  let trees = 0
  const deps = change(openDeps(env, { clock: { nowMs: () => Date.now() + aheadMs } }))
  return {
    env,
    deps,
    probe: join(top, 'probe'),
    makeTree() {
      const root = join(top, `tree-${trees++}`)
      mkdirSync(root)
      return root
    },
    run: (root, args) => runHere(env, root, args, deps),
    passMinutes(minutes) {
      aheadMs += minutes * 60_000
    },
    isAhead: () => aheadMs > 0,
    close() {
      deps.close()
      rmSync(top, { recursive: true, force: true })
    },
  }
}
