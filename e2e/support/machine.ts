import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { checkout, type Stack } from '#support/stack.ts'

/** A developer's machine with the client on it: a home folder of its own, connected or not. */
export interface Machine {
  readonly home: string
  /** Runs the command line in a folder and gives its JSON. @throws when it exits with anything but 0 */
  turnback(folder: string, ...args: string[]): unknown
  connect(): Promise<void>
  disconnect(): Promise<void>
}

export function makeMachine(stack: Stack): Machine {
  const home = mkdtempSync(join(stack.scratch, 'machine-'))
  const env = { PATH: process.env.PATH, HOME: home, TURNBACK_HOME: join(home, 'turnback'), NO_COLOR: '1' }
  const program = join(checkout, 'bin/turnback')
  let resident: ChildProcess | null = null
  return {
    home,
    turnback: (folder, ...args) => {
      const done = spawnSync(program, [...args, '--json'], {
        cwd: folder,
        env,
        encoding: 'utf8',
        timeout: 60_000,
      })
      if (done.status !== 0)
        throw new Error(`turnback ${args.join(' ')}: exit ${done.status}\n${done.stdout}${done.stderr}`)
      return JSON.parse(done.stdout)
    },
    connect: async () => {
      resident = spawn(program, ['connect', '--foreground'], { cwd: home, env, stdio: 'ignore' })
    },
    disconnect: async () => {
      const running = resident
      resident = null
      if (running === null || running.exitCode !== null) return
      running.kill('SIGTERM')
      await once(running, 'close')
    },
  }
}
