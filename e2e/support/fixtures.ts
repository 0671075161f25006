import { spawnSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { type APIRequestContext, test as base, expect, request } from '@playwright/test'
import { type TurnId, turnIdSchema } from '@turnback/core'
import { routes } from '@turnback/core/api'
import { type Machine, makeMachine } from '#support/machine.ts'
import { call } from '#support/rest.ts'
import { checkout, currentStack, type Stack } from '#support/stack.ts'

/** A sample project on a connected machine, and the project of the service that its turns go to. */
export interface Project {
  readonly folder: string
  readonly machine: Machine
  /** Address of its turns in the web. */
  readonly address: string
  /** Begins a turn, lets `work` change the tree (the sample turn, if nothing is said), and ends it. @returns its id */
  playTurn(options?: { prompt?: string; work?: () => void }): TurnId
  /** Resolves when the service has the turn. */
  arrived(turn: TurnId): Promise<void>
  addressOf(turn: TurnId): string
}

interface Fixtures {
  /** What the project and its machine are called; null: after the test. */
  readonly names: { readonly project: string; readonly machine: string } | null
  readonly stack: Stack
  /** REST as the signed-in person. */
  readonly rest: APIRequestContext
  readonly project: Project
}

export const PROMPT = 'Give the page a dark look, and make it work on my laptop'

/** Where first-start.spec.ts leaves the first administrator's session. */
export const sessionFile = (stack: Stack) => join(stack.scratch, 'session.json')

export const test = base.extend<Fixtures>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the fixtures' names from here
  stack: async ({}, use) => use(currentStack()),
  baseURL: async ({ stack }, use) => use(stack.url),
  storageState: async ({ stack }, use) => use(sessionFile(stack)),
  rest: async ({ stack }, use) => {
    const rest = await request.newContext({
      baseURL: stack.url,
      storageState: sessionFile(stack),
      extraHTTPHeaders: { origin: stack.url },
    })
    await use(rest)
    await rest.dispose()
  },
  names: [null, { option: true }],
  project: async ({ stack, rest, names }, use, info) => {
    const wanted = names?.project ?? `${info.project.name} ${info.testId}`
    const { id, name } = await call(rest, routes.createProject, { body: { name: wanted } })
    const machine = makeMachine(stack)
    const { code } = await call(rest, routes.createEnrollment, { body: { project: id } })
    machine.turnback(
      machine.home,
      'login',
      `${stack.url}/enroll#${code}`,
      '--name',
      names?.machine ?? 'machine',
    )
    machine.turnback(machine.home, 'policy', 'set', 'remote', 'owner')
    const folder = join(mkdtempSync(join(stack.scratch, 'work-')), 'harbour')
    sample('setup', folder)
    machine.turnback(folder, 'init', '--project', name)
    await machine.connect()
    const address = `/projects/${id}`
    const addressOf = (turn: TurnId) => `${address}/turns/${turn}`
    await use({
      folder,
      machine,
      address,
      addressOf,
      playTurn: ({ prompt = PROMPT, work = () => sample('turn', folder) } = {}) => {
        const session = ['--session', 'journey', '--turn', `${Math.random()}`]
        machine.turnback(folder, 'begin', ...session, '--agent', 'sample-agent', '--prompt', prompt)
        work()
        return turnOf(machine.turnback(folder, 'end', ...session))
      },
      arrived: async (turn) => {
        await expect.poll(async () => (await rest.get(`/v1/turns/${turn}`)).status()).toBe(200)
      },
    })
    await machine.disconnect()
  },
})

export { expect } from '@playwright/test'

function sample(step: 'setup' | 'turn', folder: string): void {
  const done = spawnSync('sh', [join(checkout, 'scripts/sample.sh'), step, folder], { encoding: 'utf8' })
  if (done.status !== 0) throw new Error(`sample.sh ${step}: ${done.stderr}`)
}

function turnOf(answer: unknown): TurnId {
  return turnIdSchema.parse(
    typeof answer === 'object' && answer !== null ? Reflect.get(answer, 'turn') : undefined,
  )
}
