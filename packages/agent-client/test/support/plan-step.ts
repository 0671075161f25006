// Loaded by `--import` before the client: does at one step of it what TURNBACK_TEST_STEP says, or writes all steps down.
import { writeFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
import { type Step, watchSteps } from './fs-steps.ts'
import { makeError } from './step-error.ts'

/** What is to happen, handed over as JSON. Steps are counted from 0, each thread's by itself. */
export interface StepPlan {
  readonly folders: readonly string[]
  /** `list` writes the steps of the main thread to this file at the end. */
  readonly list?: string
  readonly kill?: { readonly at: number; readonly when: 'before' | 'after' }
  /** `every`: that step and all later ones of the same call. */
  readonly fail?: {
    readonly at: number
    readonly code: string
    readonly every?: boolean
    /** Only in threads beside the main one; then this file is written when it happens. */
    readonly markInThread?: string
  }
}

const text = process.env.TURNBACK_TEST_STEP
if (text !== undefined) {
  const plan = JSON.parse(text) as StepPlan
  const steps: Step[] = []
  let count = -1
  let failing: string | null = null
  watchSteps(plan.folders, (step, when) => {
    if (when === 'before') count++
    if (plan.list !== undefined && when === 'before') steps.push(step)
    if (plan.kill?.at === count && plan.kill.when === when) process.kill(process.pid, 'SIGKILL')
    if (plan.fail === undefined || when !== 'before') return
    const isIt = plan.fail.at === count || (plan.fail.every === true && failing === step.call)
    if (!isIt || (plan.fail.markInThread !== undefined && isMainThread)) return
    if (plan.fail.markInThread !== undefined) writeFileSync(plan.fail.markInThread, describe(step))
    failing = step.call
    throw makeError(step, plan.fail.code)
  })
  const { list } = plan
  if (list !== undefined && isMainThread) process.on('exit', () => writeFileSync(list, JSON.stringify(steps)))
}

function describe({ call, target }: Step): string {
  return `${call} ${target.replace(/\s+/g, ' ').slice(0, 120)}`
}
