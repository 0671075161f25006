import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { ResidentRig, until } from './support/resident-rig.ts'

/** Bash and others read with a time limit: only callers in this shell need somebody to tell them the time. */
const DASH = ['/bin/dash', '/usr/bin/dash'].find((path) => existsSync(path))
const BASH = ['/bin/bash', '/usr/bin/bash'].find((path) => existsSync(path))

const LOOK_MS = 300

let rig: ResidentRig

beforeAll(() => {
  rig = new ResidentRig()
})
afterEach(async () => {
  await rig.kill()
})
afterAll(() => rig.dispose())

/** Of the announcement, or null while there is none. */
function tickerPid(): number | null {
  const word = readFileSync(join(rig.socket, 'resident'), 'utf8').trim().split(' ')[4]
  return word === undefined || word === '-' ? null : Number(word)
}

/** Gone, or a number that only its parent has not let go of yet. */
function hasEnded(pid: number): boolean {
  if (!existsSync(`/proc/${pid}/stat`)) return true
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  return stat[stat.lastIndexOf(')') + 2] === 'Z'
}

async function connect(): Promise<number> {
  await rig.connect()
  await until(() => tickerPid() !== null, 'there is a ticker')
  return tickerPid() ?? 0
}

/** Asks a resident that does not answer. @returns how many processes the caller had while it waited */
async function askInVain(): Promise<number> {
  const { pid, place } = rig.pretend()
  let caller = 0
  const begin = rig.run(['begin', '--session', 's', '--json'], {
    shell: [DASH ?? ''],
    started: (started) => {
      caller = started
    },
  })
  await until(() => readdirSync(place).some((name) => name.endsWith('.request')), 'it is asked')
  const children = () => readFileSync(`/proc/${caller}/task/${caller}/children`, 'utf8').trim().split(' ')
  let most = 0
  // Well before it loses patience, which costs a process.
  const untilMs = performance.now() + LOOK_MS
  while (performance.now() < untilMs) {
    most = Math.max(most, children().filter((each) => each !== '').length)
    await new Promise((go) => setTimeout(go, 5))
  }
  const { code, stdout } = await begin
  expect(code).toBe(0)
  expect(JSON.parse(stdout.toString())).toMatchObject({ session: 's' })
  process.kill(pid, 'SIGCONT')
  return most
}

describe.skipIf(DASH === undefined || BASH === undefined || process.platform !== 'linux')('in dash', () => {
  test('who waits hears the time from the ticker, and needs no process for it', async () => {
    await connect()
    expect(await askInVain()).toBe(0)
  })

  test('without it it has one of its own', async () => {
    const ticker = await connect()
    const resident = rig.pid
    process.kill(resident, 'SIGSTOP')
    process.kill(ticker, 'SIGKILL')
    await until(() => hasEnded(ticker), 'the ticker is gone')
    expect(await askInVain()).toBeGreaterThan(0)
  })
})

describe.skipIf(BASH === undefined || process.platform !== 'linux')('a ticker', () => {
  test('that ended is replaced by another', async () => {
    const ticker = await connect()
    process.kill(ticker, 'SIGKILL')
    await until(() => ![ticker, null].includes(tickerPid()), 'another is announced')
    expect(hasEnded(tickerPid() ?? 0)).toBe(false)
  })

  test('ends with its resident, however that ends', async () => {
    const ticker = await connect()
    process.kill(rig.pid, 'SIGKILL')
    await until(() => hasEnded(ticker), 'it is gone')
    const next = await connect()
    await rig.run(['disconnect'])
    await until(() => hasEnded(next), 'it is gone too')
  })
})
