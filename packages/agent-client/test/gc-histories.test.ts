import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DomainError, type TurnId } from '@turnback/core'
import { SeededRandom } from '@turnback/core/testing'
import { expect, test } from 'vitest'
import { makeCheckpoint } from '#capture/checkpoint.ts'
import { gcParts } from '#cli/gc-parts.ts'
import { collectGarbage } from '#store/gc.ts'
import { runHere } from './support/command-here.ts'
import { openRig, type Rig } from './support/restore-rig.ts'

const HISTORIES = process.env.TURNBACK_TEST_LONG === '1' ? 100 : 4
const FILES = ['a', 'b', 'd/x', 'd/e/y', 'f'] as const

/** What happens to both: one store that gc is let loose on, and one that keeps everything. */
type Op = (rig: Rig) => Promise<unknown>

interface Pair {
  readonly cut: Rig
  readonly whole: Rig
}

function editOf(random: SeededRandom): (rig: Rig) => void {
  const [path, dice, text] = [
    random.pick(FILES),
    random.below(100),
    `${random.below(4)}\n${random.below(1e6)}\n`,
  ]
  return (rig) => {
    if (dice < 75) rig.put(path, text, dice < 15 ? 0o755 : 0o644)
    else rmSync(join(rig.root, dice < 90 ? path : 'd'), { recursive: true, force: true })
  }
}

function randomOp(random: SeededRandom): Op {
  const dice = random.below(100)
  const session = `s${random.below(2)}`
  const edits = Array.from({ length: 1 + random.below(3) }, () => editOf(random))
  if (dice < 50)
    return (rig) =>
      rig.turn(session, () => {
        for (const edit of edits) edit(rig)
      })
  if (dice < 62)
    return async (rig) => {
      for (const edit of edits) edit(rig)
    }
  if (dice < 70)
    return (rig) =>
      rig.deps.leases.run(rig.workspace, 'capture', (lease) =>
        makeCheckpoint(rig.deps, lease, rig.workspace, { label: null, task: null, paths: null }),
      )
  const back = random.below(6)
  if (dice < 80)
    return async (rig) => {
      const turn = rig.turns().at(-1 - back)
      if (turn !== undefined && turn.kind !== 'outside') rig.deps.log.setPinned(turn.turn, true)
    }
  if (dice < 90) return (rig) => rig.undo()
  return (rig) => rig.redo()
}

/** What a restoring command came to, by its tree and its report; null when it was refused for the gap. */
async function outcome(
  rig: Rig,
  run: (rig: Rig) => Promise<{ status: string; kept: readonly { path: string }[] }>,
) {
  try {
    const { status, kept } = await run(rig)
    return { status, kept: kept.map(({ path }) => path).sort(), tree: rig.snapshot() }
  } catch (error) {
    if (error instanceof DomainError && error.code === 'HISTORY_GAP') return null
    throw error
  }
}

/** @returns false when gc had removed what the op needs: then it is not done to the other one either */
async function both({ cut, whole }: Pair, op: Op): Promise<boolean> {
  try {
    await op(cut)
  } catch (error) {
    if (error instanceof DomainError && error.code === 'HISTORY_GAP') return false
    throw error
  }
  await op(whole)
  expect(cut.snapshot()).toEqual(whole.snapshot())
  return true
}

/** Turns are numbered alike on both sides. */
const twinOf = (rig: Rig, number: number): TurnId => {
  const turn = rig.turns().find((each) => each.number === number)?.turn
  if (turn === undefined) throw new Error(`no turn ${number}`)
  return turn
}

async function play(
  seed: number,
  seen: Record<'restored' | 'refused' | 'removed' | 'blobs', number>,
): Promise<void> {
  const random = new SeededRandom(seed)
  const pair = { cut: await openRig(), whole: await openRig() }
  const { cut, whole } = pair
  try {
    for (const rig of [cut, whole]) for (const path of FILES) rig.put(path, `start of ${path}\n`)
    await both(pair, (rig) => rig.turn('s0', () => rig.put('a', 'first\n')))
    for (let i = 0; i < 22; i++) {
      await both(pair, randomOp(random))
      const minutes = random.chance(30) ? random.below(6 * 24 * 60) : random.below(60)
      for (const rig of [cut, whole]) rig.passMinutes(minutes)
      if (!random.chance(25)) continue
      const limits = {
        retentionDays: 1 + random.below(20),
        retentionTurns: random.chance(50) ? 2 + random.below(8) : 1000,
        budgetBytes: random.chance(15) ? 1 : 5e9,
      }
      const result = await collectGarbage(gcParts(cut.deps, {}, { limits, coldMs: 0 }))
      seen.removed += result.turns
      seen.blobs += result.blobs
      const { code, json } = await runHere({ TURNBACK_HOME: cut.home }, cut.root, ['verify'], cut.deps)
      expect(json, `seed ${seed} op ${i}`).toMatchObject({ missing: [], corrupt: [], log: [], packs: [] })
      expect(code).toBe(0)
    }
    // Whatever a person did last is in the log before the comparison begins.
    await both(pair, (rig) => rig.turn('s0', () => writeFileSync(join(rig.root, 'last'), 'x')))
    for (const { number, kind } of cut.turns().filter((turn) => turn.kind !== 'outside')) {
      const why = `seed ${seed} turn ${number} ${kind}`
      const got = await outcome(cut, (rig) => rig.restore(twinOf(rig, number)))
      if (got === null) {
        seen.refused++
        continue
      }
      seen.restored++
      const wanted = await outcome(whole, (rig) => rig.restore(twinOf(rig, number)))
      expect(got.tree, why).toEqual(wanted?.tree)
      expect([got.status === 'nothing-to-do', got.kept], why).toEqual([
        wanted?.status === 'nothing-to-do',
        wanted?.kept,
      ])
      // And back again, on both.
      for (const rig of [cut, whole]) await rig.restore(rig.turns().at(-1)?.turn ?? 't_')
      expect(cut.snapshot(), why).toEqual(whole.snapshot())
    }
  } finally {
    cut.close()
    whole.close()
  }
}

test(`${HISTORIES} histories with gc at any time: each turn that is left is restored as with the whole log`, async () => {
  const seen = { restored: 0, refused: 0, removed: 0, blobs: 0 }
  for (let seed = 1; seed <= HISTORIES; seed++) await play(seed, seen)
  expect(seen.restored).toBeGreaterThan(HISTORIES * 3)
  expect(seen.removed).toBeGreaterThan(HISTORIES * 3)
  expect(seen.blobs).toBeGreaterThan(HISTORIES * 3)
}, 3_600_000)
