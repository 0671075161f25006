import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { isGroupAlive, ownsTerminal, signalProcess } from '#store/task-processes.ts'

/** How a child is started. */
export interface ChildOptions {
  readonly folder: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Its standard output goes to ours, or to standard error where ours is for a program. */
  readonly output: 'ours' | 'talk'
}

export interface ChildEnd {
  /** As a shell says it: 128 and the signal's number when a signal ended it, 127 and 126 when it could not be started. */
  readonly exit: number
  readonly signal: NodeJS.Signals | null
}

/** A program in a process group of its own, so that all that it starts can be ended with it. */
export interface Child {
  /** Null when nothing was started. */
  readonly group: Promise<number | null>
  readonly ended: Promise<ChildEnd>
  /** It has the terminal, and what is typed there. */
  readonly isInTerminal: boolean
}

/**
 * A shell with job control makes the group and hands it the terminal, which Node can not; the inner one says which group
 * that is before it becomes the program. What is suspended goes on at once: nobody could wake it.
 */
const IN_TERMINAL = `set -m
sh -c 'echo $$ >&3; exec 3>&-; exec "$@"' sh "$@"
tb_status=$?
while [ "$tb_status" -ge 145 ] && [ "$tb_status" -le 150 ] && fg %1 >/dev/null 2>&1; do tb_status=$?; done
exit "$tb_status"`

/** TERM, and KILL for what is still there after so long. */
const GRACE_MS = 5000
const AFTER_KILL_MS = 2000
const LOOK_AGAIN_MS = 25

export function startChild(argv: readonly string[], options: ChildOptions): Child {
  return ownsTerminal() ? startInTerminal(argv, options) : startAlone(argv, options)
}

function startAlone([program = '', ...rest]: readonly string[], options: ChildOptions): Child {
  const { folder, env, output } = options
  const child = spawn(program, rest, {
    cwd: folder,
    env: { ...env },
    detached: true,
    stdio: ['inherit', output === 'ours' ? 'inherit' : 2, 'inherit'],
  })
  return { group: Promise.resolve(child.pid ?? null), ended: endOf(child), isInTerminal: false }
}

function startInTerminal(argv: readonly string[], { folder, env, output }: ChildOptions): Child {
  const child = spawn('/bin/sh', ['-c', IN_TERMINAL, 'sh', ...argv], {
    cwd: folder,
    env: { ...env },
    stdio: ['inherit', output === 'ours' ? 'inherit' : 2, 'inherit', 'pipe'],
  })
  const ended = endOf(child)
  const said = child.stdio[3]
  const { promise, resolve } = Promise.withResolvers<number | null>()
  let text = ''
  said?.on('data', (piece: Buffer) => {
    text += piece.toString('latin1')
    if (text.includes('\n')) resolve(Number(text.trim()))
  })
  const end = (): void => {
    resolve(null)
    said?.destroy()
  }
  ended.then(end, end)
  return { group: promise, ended, isInTerminal: true }
}

function endOf(child: ChildProcess): Promise<ChildEnd> {
  const { promise, resolve, reject } = Promise.withResolvers<ChildEnd>()
  child.on('exit', (code, signal) => resolve(toEnd(code, signal)))
  child.on('error', (error) => {
    const code = 'code' in error ? error.code : null
    if (code === 'ENOENT') resolve({ exit: 127, signal: null })
    else if (code === 'EACCES' || code === 'ENOEXEC') resolve({ exit: 126, signal: null })
    else reject(error)
  })
  return promise
}

function toEnd(code: number | null, signal: NodeJS.Signals | null): ChildEnd {
  return { exit: code ?? 128 + (signal === null ? 0 : constants.signals[signal]), signal }
}

/**
 * Ends all of a group: asks first.
 * @param isImpatient asked again and again: true ends the wait
 * @returns false when something of it is there still
 */
export async function endGroup(group: number, isImpatient: () => boolean = () => false): Promise<boolean> {
  signalProcess(-group, 'SIGTERM')
  // What is stopped hears nothing until it goes on.
  signalProcess(-group, 'SIGCONT')
  if (await isGoneWithin(group, GRACE_MS, isImpatient)) return true
  signalProcess(-group, 'SIGKILL')
  return isGoneWithin(group, AFTER_KILL_MS, () => false)
}

async function isGoneWithin(group: number, ms: number, isImpatient: () => boolean): Promise<boolean> {
  for (const until = performance.now() + ms; ; await sleep(LOOK_AGAIN_MS)) {
    if (!isGroupAlive(group)) return true
    if (performance.now() >= until || isImpatient()) return false
  }
}
