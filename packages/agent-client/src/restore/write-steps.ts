import type { PlanStep } from '@turnback/core'
import type { BegunStep, StepOutcome, TreeStep, TreeWriter } from '#ports.ts'
import { Pace } from './pace.ts'
import { countOfDatabase, writeDatabase } from './write-database.ts'

/** Files that lie beside their places at once. More make nothing faster, and each holds two descriptors. */
const MOST_FILES = 128
/** So that a power cut or a full disk finds no more than this of half a restore. */
const MOST_BYTES = 32 * 1024 * 1024
/** Of those, so many wait for the disk side by side. The others leave its threads to who else needs them. */
const MOST_SYNCS = 8
/** Answers to a step that may be others once what is in flight has landed. */
const FOR_WANT_OF_ROOM = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE'])

/** Says what is really to be done for a step of the plan, or what came of it already. */
type ChooseStep = (step: PlanStep) => TreeStep | StepOutcome

export interface HowToWrite {
  readonly choose?: ChooseStep
  /** The place in the journal's plan of the n-th of the steps given here: it names temporary files. */
  readonly placeOf?: (index: number) => number
  /** Throws when this process may not write any more. */
  readonly check?: () => void
}

type TakeOutcome = (index: number, outcome: StepOutcome) => void

/**
 * Carries steps out in their order, as far as others could tell it from the disk: files are written beside their places,
 * made durable many at a time, and only then given their names, one after the other. What takes something away waits
 * until all that is to exist does.
 * @param take told what came of each step, in no certain order
 */
export async function writeSteps(
  writer: TreeWriter,
  steps: readonly PlanStep[],
  { choose = (step) => step, placeOf = (index) => index, check = () => {} }: HowToWrite,
  take: TakeOutcome,
): Promise<void> {
  const pace = new Pace()
  const flight = new Flight(writer, pace, check, take)
  try {
    /** @returns false when there was no room for it beside what is in flight */
    const doOne = (step: PlanStep, index: number): boolean => {
      const chosen = choose(step)
      const begun = 'ok' in chosen ? chosen : writer.begin(chosen, placeOf(index))
      if (begun !== null && lacksRoom(begun) && !flight.isEmpty) return false
      if (begun === null) take(index, 'ok' in chosen ? chosen : writer.apply(chosen, placeOf(index)))
      else if ('ok' in begun) take(index, begun)
      else flight.add(begun, index)
      return true
    }
    for (let next = 0; next < steps.length; ) {
      await pace.breathe()
      await writer.rest()
      await flight.land(isAfterAll(steps[next]) ? 0 : null)
      const ofOne = countOfDatabase(steps, next)
      if (ofOne > 0) {
        await flight.land(0)
        await writer.rest('all')
        const members = steps.slice(next, next + ofOne).map((step, i) => {
          return { chosen: choose(step), index: next + i, place: placeOf(next + i) }
        })
        check()
        await writeDatabase(writer, members, take)
        next += ofOne
        continue
      }
      let isCrowded = false
      check()
      writer.together(() => {
        do {
          const step = steps[next]
          isCrowded = step !== undefined && !doOne(step, next)
          if (!isCrowded) next++
        } while (
          !isCrowded &&
          next < steps.length &&
          !isAfterAll(steps[next]) &&
          countOfDatabase(steps, next) === 0 &&
          flight.hasRoom &&
          !pace.isOver
        )
      })
      if (isCrowded) {
        // What flies takes room twice: once it has landed, and what it replaced is gone, the step is tried again.
        await flight.land(0)
        await writer.rest('all')
      }
    }
    await flight.land(0)
  } catch (error) {
    await flight.giveUp()
    throw error
  }
}

/** Nothing is taken away, and no folder closed, before all that comes earlier is there. */
function isAfterAll(step: PlanStep | undefined): boolean {
  return step?.to.kind === 'absent' || (step?.from.kind === 'dir' && step.to.kind === 'dir')
}

function lacksRoom(begun: BegunStep | StepOutcome): boolean {
  return 'ok' in begun && !begun.ok && begun.why === 'error' && FOR_WANT_OF_ROOM.has(begun.code)
}

interface Flying {
  readonly begun: BegunStep
  readonly index: number
  readonly synced: Promise<void>
}

/** Files that are written and have no names yet. They get them in the order in which they came. */
class Flight {
  readonly #writer: TreeWriter
  readonly #pace: Pace
  readonly #check: () => void
  readonly #take: TakeOutcome
  readonly #flying: Flying[] = []
  #bytes = 0
  #syncs = 0
  readonly #forSync: (() => void)[] = []

  constructor(writer: TreeWriter, pace: Pace, check: () => void, take: TakeOutcome) {
    this.#writer = writer
    this.#pace = pace
    this.#check = check
    this.#take = take
  }

  get isEmpty(): boolean {
    return this.#flying.length === 0
  }

  get hasRoom(): boolean {
    return this.#flying.length < MOST_FILES && this.#bytes < MOST_BYTES
  }

  add(begun: BegunStep, index: number): void {
    this.#flying.push({ begun, index, synced: this.#sync(begun) })
    this.#bytes += begun.sizeBytes
  }

  /** Gives names, until no more than so many files wait for theirs; until there is room for another one when null. */
  async land(most: number | null): Promise<void> {
    while (most === null ? !this.hasRoom : this.#flying.length > most) {
      const first = this.#flying[0]
      if (first === undefined) return
      await first.synced
      this.#check()
      this.#flying.shift()
      this.#bytes -= first.begun.sizeBytes
      this.#take(first.index, first.begun.finish())
      await this.#writer.rest()
      await this.#pace.breathe()
    }
  }

  /** What broke off is for the journal to finish: nothing of it goes on behind its end. */
  async giveUp(): Promise<void> {
    for (const { begun, synced } of this.#flying.splice(0)) {
      await synced
      begun.giveUp()
    }
  }

  async #sync(begun: BegunStep): Promise<void> {
    while (this.#syncs >= MOST_SYNCS) await new Promise<void>((wake) => this.#forSync.push(wake))
    this.#syncs++
    await begun.sync()
    this.#syncs--
    this.#forSync.shift()?.()
  }
}
