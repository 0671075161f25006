import type { RestoreReport, TurnId } from '@turnback/core'
import { type CommandOutcome, type HistoryOp, randomHistory, SeededRandom } from '@turnback/core/testing'
import type { RealOp } from './real-history.ts'

type RestoringOp = Extract<HistoryOp, { op: 'undo' | 'redo' | 'restore' }>

/** A restoring command as a person types it, or null when there is no turn that it could name. */
export function wordsFor(
  op: RestoringOp,
  turns: readonly { readonly number: number; readonly kind: string }[],
  isAnyOpen: boolean,
): string[] | null {
  const force = isAnyOpen ? ['--close-open'] : []
  switch (op.op) {
    case 'undo': {
      const session = op.session === null ? [] : ['--session', `s${op.session}`]
      return ['undo', ...session, '--on-conflict', op.onConflict, ...force]
    }
    case 'redo':
      return ['redo', ...force]
    case 'restore': {
      const target = turns.filter((turn) => turn.kind !== 'outside').at(-1 - op.back)
      if (target === undefined) return null
      const scope = {
        turn: ['--only'],
        'from-turn': [],
        session: ['--session'],
        'all-sessions': ['--all-sessions'],
      }
      return [
        ...['restore', String(target.number), ...scope[op.scope], ...(op.exact ? ['--exact'] : [])],
        ...[
          '--on-conflict',
          op.onConflict,
          ...(op.paths ?? []).flatMap((path) => ['--path', path]),
          ...force,
        ],
      ]
    }
  }
}

/** A report in the words of the model. Two lists that name a path give two lines, which no oracle has. */
export function outcomeOf(report: RestoreReport, numberOf: (turn: TurnId) => number): CommandOutcome {
  const name = (turn: TurnId | undefined): string => (turn === undefined ? '' : `t_${numberOf(turn)}`)
  if (report.status === 'refused') {
    const paths = report.error?.details?.paths
    return { status: 'refused', lines: Array.isArray(paths) ? paths.map(String).sort() : [] }
  }
  if (report.turn === null) return { status: report.status, lines: [] }
  const { directories } = report
  const lines = [
    ...report.restored.map((path) => `restored ${path}`),
    ...report.deleted.map((path) => `deleted ${path}`),
    ...report.merged.map((path) => `merged ${path}`),
    ...report.kept.map((item) => `kept ${item.path} ${item.reason} ${name(item.turn)}`),
    ...report.failed.map((item) => `failed ${item.path} ${item.code}`),
    ...report.skipped.map((item) => `skipped ${item.path} ${item.reason}`),
    ...directories.restored.map((path) => `directory restored ${path}`),
    ...directories.deleted.map((path) => `directory deleted ${path}`),
    ...directories.kept.map((path) => `directory kept ${path}`),
    ...report.alsoUndone.map((item) => `also undone ${item.path} ${name(item.turn)}`),
    ...report.of.map((turn) => `of ${name(turn)}`),
    `unchanged ${report.unchanged}`,
  ]
  return { status: report.status, lines: lines.sort() }
}

/** Every fourth history has gc in it: that needs a store of its own. */
export function hasGc(seed: number): boolean {
  return seed % 4 === 0
}

/** The model's history of that seed, with what only a real client can do: gc, and restores taken back at once. */
export function realHistory(seed: number): RealOp[] {
  const random = new SeededRandom(seed ^ 0x5eed)
  return randomHistory(seed).flatMap((op): RealOp[] => {
    const isCommand = op.op === 'undo' || op.op === 'redo' || op.op === 'restore'
    const ops: RealOp[] = isCommand && random.chance(40) ? [op, { op: 'take-back' }] : [op]
    if (!hasGc(seed) || !random.chance(8)) return ops
    const minutes = random.below(4 * 24 * 60)
    return [...ops, { op: 'gc', minutes, retentionDays: 1 + random.below(4) }]
  })
}
