import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Change, RestoreEvent, RestoreReport } from '@turnback/core'
import { expect, test } from 'vitest'
import type { ClientDeps } from '#deps.ts'
import type { TreeWriter, TurnRow } from '#ports.ts'
import { type ChangeDeps, openBench } from './support/history-bench.ts'
import { hasGc, realHistory } from './support/history-words.ts'
import { RealHistory, RuleBroken } from './support/real-history.ts'

/** So many histories at most, from the first one that is known to show the fault. */
const HISTORIES = 300

/** The log as restores read it, with one answer changed. */
function withLog(
  deps: ClientDeps,
  change: {
    readonly changes?: (changes: Change[]) => Change[]
    readonly events?: (events: RestoreEvent[]) => RestoreEvent[]
    readonly turns?: (turns: TurnRow[]) => TurnRow[]
  },
): ClientDeps {
  const { log } = deps
  const answers: Readonly<Record<string, unknown>> = {
    listChanges: (...args: Parameters<typeof log.listChanges>) =>
      (change.changes ?? same)(log.listChanges(...args)),
    listRestoreEvents: (...args: Parameters<typeof log.listRestoreEvents>) =>
      (change.events ?? same)(log.listRestoreEvents(...args)),
    listTurns: (...args: Parameters<typeof log.listTurns>) => (change.turns ?? same)(log.listTurns(...args)),
  }
  return {
    ...deps,
    log: new Proxy(log, {
      get(_, name) {
        const answer = typeof name === 'string' ? answers[name] : undefined
        if (answer !== undefined) return answer
        const member: unknown = Reflect.get(log, name)
        return typeof member === 'function' ? member.bind(log) : member
      },
    }),
  }
}

function same<T>(value: T): T {
  return value
}

/** The hand that writes, with one of its ways changed. */
function withWriter(
  deps: ClientDeps,
  change: (writer: TreeWriter, root: string) => Partial<TreeWriter>,
): ClientDeps {
  return {
    ...deps,
    writer(workspace, restore) {
      const writer = deps.writer(workspace, restore)
      // One step at a time, so that there is one place for a fault.
      const changed: Partial<TreeWriter> = { begin: () => null, ...change(writer, workspace.root) }
      return new Proxy(writer, {
        get(_, name) {
          const other: unknown = Reflect.get(changed, name)
          if (other !== undefined) return other
          const member: unknown = Reflect.get(writer, name)
          return typeof member === 'function' ? member.bind(writer) : member
        },
      })
    },
  }
}

function withReport(deps: ClientDeps, change: (report: RestoreReport) => RestoreReport): ClientDeps {
  return {
    ...deps,
    capture: {
      ...deps.capture,
      recordRestore(lease, workspace, record) {
        Object.assign(record.report, change(record.report))
        return deps.capture.recordRestore(lease, workspace, record)
      },
    },
  }
}

const WRONG: Readonly<Record<string, ChangeDeps>> = {
  'restores do not take anything off': (deps) =>
    withLog(deps, { events: (events) => events.map((event) => ({ ...event, popped: [], putBack: [] })) }),
  'what a restore pushed is forgotten': (deps) =>
    withLog(deps, { events: (events) => events.map((event) => ({ ...event, pushed: [] })) }),
  'a person’s changes are not seen': (deps) =>
    withLog(deps, { changes: (changes) => changes.filter(({ kind }) => kind !== 'outside') }),
  'a person’s changes are taken for the agent’s': (deps) =>
    withLog(deps, {
      changes: (changes) => {
        const work = changes.find(({ kind }) => kind === 'agent')
        if (work === undefined) return changes
        const { kind, session, turn, source } = work
        return changes.map((each) =>
          each.kind === 'outside' ? { ...each, kind, session, turn, source } : each,
        )
      },
    }),
  'all sessions are one': (deps) =>
    withLog(deps, {
      changes: (changes) =>
        changes.map((each) => (each.session === null ? each : { ...each, session: 's0' })),
      turns: (turns) => turns.map((each) => (each.session === null ? each : { ...each, session: 's0' })),
    }),
  'shared changes are everybody’s own': (deps) =>
    withLog(deps, {
      changes: (changes) =>
        changes.map((each) =>
          each.source === 'shared' ? { ...each, source: 'unknown', sharedBy: [] } : each,
        ),
    }),
  'new work leaves the redo line': (deps) =>
    withLog(deps, { turns: (turns) => turns.map((each) => ({ ...each, entries: 0 })) }),
  'a checkpoint of paths is one of the tree': (deps) =>
    withLog(deps, { turns: (turns) => turns.map((each) => ({ ...each, paths: null })) }),
  'the present is not recorded first': (deps) => ({
    ...deps,
    capture: {
      ...deps.capture,
      async scan(lease, workspace) {
        const before = { tree: deps.log.getKnownTree(workspace.id), scan: 0 }
        return { ...(await deps.capture.scan(lease, workspace)), ...before }
      },
    },
  }),
  'open turns stay open': (deps) => ({
    ...deps,
    capture: { ...deps.capture, closeOpenTurns: async () => [] },
  }),
  'what was skipped counts as absent': (deps) =>
    withLog(deps, {
      changes: (changes) =>
        changes.map(({ before, after, ...each }) => ({
          ...each,
          before: before.kind === 'skipped' ? { kind: 'absent' } : before,
          after: after.kind === 'skipped' ? { kind: 'absent' } : after,
        })),
    }),
  'every file is written anew': (deps) =>
    withWriter(deps, (writer, root) => ({
      async sync(folders, files) {
        for (const entry of readdirSync(root, { withFileTypes: true })) {
          if (!entry.isFile()) continue
          const [at, temp] = [join(root, entry.name), join(root, 'temp')]
          writeFileSync(temp, readFileSync(at))
          renameSync(temp, at)
        }
        return writer.sync(folders, files)
      },
    })),
  'a step is told as done that was not': (deps) =>
    withWriter(deps, () => ({ apply: () => ({ ok: true }), holds: () => true })),
  'what could not be written is passed over in silence': (deps) =>
    withReport(
      withWriter(deps, () => ({ apply: () => ({ ok: false, why: 'error', code: 'EIO', reason: 'EIO' }) })),
      (report) => ({ ...report, failed: [] }),
    ),
  'modes are not given back': (deps) =>
    withWriter(deps, (writer) => ({
      apply(step, index) {
        const { to } = step
        return writer.apply(to.kind === 'file' ? { ...step, to: { ...to, mode: 0o640 } } : step, index)
      },
      holds: () => true,
    })),
  'a path stands in two lists': (deps) =>
    withReport(deps, (report) => ({ ...report, deleted: [...report.deleted, ...report.restored] })),
  'a kept path is passed over in silence': (deps) => withReport(deps, (report) => ({ ...report, kept: [] })),
  'undone turns are not named': (deps) => withReport(deps, (report) => ({ ...report, of: [] })),
  'edits that go with it are not named': (deps) =>
    withReport(deps, (report) => ({ ...report, alsoUndone: [] })),
}

/** Where to begin, so that it does not take long. Any other place is as good, and slower. */
const SHOWN_BY: Readonly<Record<string, number>> = {
  'what a restore pushed is forgotten': 299,
  'a person’s changes are not seen': 3,
  'a person’s changes are taken for the agent’s': 6,
  'all sessions are one': 10,
  'shared changes are everybody’s own': 3,
  'new work leaves the redo line': 29,
  'a checkpoint of paths is one of the tree': 25,
  'the present is not recorded first': 50,
  'open turns stay open': 14,
  'what was skipped counts as absent': 197,
  'a kept path is passed over in silence': 18,
  'edits that go with it are not named': 59,
}

test.each(Object.entries(WRONG))('found out: %s', { timeout: 300_000 }, async (name, change) => {
  const first = SHOWN_BY[name] ?? 1
  const bench = openBench(change)
  try {
    await expect(playUntilBroken()).rejects.toThrow(RuleBroken)
  } finally {
    bench.close()
  }

  async function playUntilBroken(): Promise<void> {
    for (let seed = first; seed < first + HISTORIES; seed++)
      if (!hasGc(seed)) await new RealHistory(bench, new Map()).play(realHistory(seed))
  }
})

test('the same histories break no rule when nothing is wrong', { timeout: 300_000 }, async () => {
  const bench = openBench((deps) =>
    withReport(
      withWriter(withLog(deps, {}), () => ({})),
      same,
    ),
  )
  try {
    for (let seed = 1; seed <= 20; seed++)
      if (!hasGc(seed)) await new RealHistory(bench, new Map()).play(realHistory(seed))
  } finally {
    bench.close()
  }
})
