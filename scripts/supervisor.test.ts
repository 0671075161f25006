import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'

const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'supervisor-')))
const script = join(scratch, 'script.ts')
const child = join(scratch, 'child.mjs')

// A part with two processes of its own below it; they stay until they are ended.
beforeAll(() => {
  writeFileSync(
    child,
    `
import { spawn } from 'node:child_process'
if (process.argv[2] === 'crash') { console.log('the disk is on fire'); process.exit(7) }
const near = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
// As PostgreSQL is below the API: in a group of its own, and ending a while after whoever started it.
const late = 'process.stdin.on("end", () => setTimeout(() => process.exit(), 400)).resume()'
const apart = spawn(process.execPath, ['-e', late], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
console.log('pids ' + [process.pid, near.pid, apart.pid].join(' '))
process.on('SIGTERM', () => process.exit(0))
setInterval(() => {}, 1000)
`,
  )
  writeFileSync(
    script,
    `
import { rmSync, writeFileSync } from 'node:fs'
import { supervise } from ${JSON.stringify(join(import.meta.dirname, 'supervisor.ts'))}
const [folder, kind] = process.argv.slice(2)
await supervise(async (supervisor) => {
  writeFileSync(folder + '/kept', '')
  supervisor.atEnd(() => rmSync(folder + '/kept'))
  const start = (name, ...args) => supervisor.start({
    name, command: [process.execPath, ${JSON.stringify(child)}, ...args], cwd: folder, env: process.env,
    logFile: folder + '/' + name + '.log', onLine: (line) => { console.log(line); spoke() },
  })
  let spoke = () => {}
  const firstLine = new Promise((done) => { spoke = done })
  start('one')
  await firstLine
  if (kind === 'crash') start('two', 'crash')
  if (kind === 'throw') throw new Error('the script itself failed')
  await supervisor.untilEnd()
})
`,
  )
})

afterAll(() => rmSync(scratch, { recursive: true, force: true }))

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  '%s ends every process, cleans up and exits 0',
  async (signal) => {
    const run = start('stay')
    const pids = await run.pids
    expect(pids.filter(isAlive)).toEqual(pids)
    run.process.kill(signal)
    expect(await run.exit).toBe(0)
    expect(pids.filter(isAlive)).toEqual([])
    expect(existsSync(join(run.folder, 'kept'))).toBe(false)
  },
)

test('when one part ends by itself, the rest ends too, with the reason and the end of its log', async () => {
  const run = start('crash')
  expect(await run.exit).toBe(1)
  expect((await run.pids).filter(isAlive)).toEqual([])
  expect(run.said()).toContain('The two ended by itself (exit 7)')
  expect(run.said()).toContain('the disk is on fire')
  expect(existsSync(join(run.folder, 'kept'))).toBe(false)
})

test('when the script fails, what it started ends, and the reason is said', async () => {
  const run = start('throw')
  expect(await run.exit).toBe(1)
  expect(run.said()).toContain('the script itself failed')
  expect((await run.pids).filter(isAlive)).toEqual([])
})

test('parts do not outlive a script that is killed outright', async () => {
  const run = start('stay')
  const pids = await run.pids
  run.process.kill('SIGKILL')
  await run.exit
  await expect.poll(() => pids.filter(isAlive), { timeout: 10_000 }).toEqual([])
})

test.runIf(process.platform === 'linux')(
  'a runner far above that is killed ends everything too',
  async () => {
    // Two shells deep, as npx and pnpm are: the nearer one does not notice that the other is gone.
    const run = start('stay', (command) => ['sh', '-c', `sh -c '${command.join(' ')}; true'; true`])
    const pids = await run.pids
    run.process.kill('SIGKILL')
    await expect.poll(() => pids.filter(isAlive), { timeout: 10_000 }).toEqual([])
    expect(await run.exit).toBe(null)
    expect(run.said()).toContain('Whoever started this is gone')
  },
)

type Command = [string, ...string[]]

function start(kind: 'stay' | 'crash' | 'throw', wrap = (command: Command): Command => command) {
  const folder = mkdtempSync(join(scratch, 'run-'))
  const [command, ...args] = wrap([process.execPath, script, folder, kind])
  const run: ChildProcess = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  const pids = new Promise<number[]>((found) => {
    for (const stream of [run.stdout, run.stderr])
      stream?.on('data', (chunk: Buffer) => {
        text += chunk.toString()
        const line = /^pids (.*)$/m.exec(text)?.[1]
        if (line) found(line.split(' ').map(Number))
      })
  })
  const exit = once(run, 'close').then(([code]) => code)
  return { process: run, folder, pids, exit, said: () => text }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  // A zombie still takes signals; it is gone for all that matters here.
  if (process.platform !== 'linux') return true
  return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
}
