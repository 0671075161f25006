import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { Socket } from 'node:net'
import { nameProcess, type ProcessName } from '#store/process.ts'

/**
 * Rings into the pipe of each caller that waits, once a second: dash, which cannot read with a time limit, would need two
 * processes of its own to find out that nobody answers. It is a process, because a thread stops when this process is
 * stopped, which is just when callers have to hear the time. Bash can read with a limit without starting anything.
 *
 * Standard input tells whether the resident lives: after its end those who wait hear the time for as long as any of them
 * waits, and then there is nobody left.
 */
const SCRIPT = `[ "\${BASH_VERSINFO[0]}" -ge 4 ] || exit 1
trap '' TERM INT HUP
shopt -s nullglob
echo ready
exec >/dev/null 2>&1
lives=1 rounds=0
while [ -p "$1/bell" ]; do
  if [ -n "$lives" ]; then
    read -r -t 1
    [ $? -gt 128 ] || lives=''
  fi
  rang=''
  for claim in "$1"/*.claim; do
    reply="\${claim%claim}reply"
    [ -p "$reply" ] && rang=1 && echo w 1<>"$reply"
  done
  [ -n "$lives" ] && continue
  rounds=$((rounds + 1))
  [ -n "$rang" ] && [ "$rounds" -lt 70 ] || exit 0
  sleep 1
done`

const SHELLS = ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash']
/** A ticker that ends again and again is left alone after a while; callers then start clocks of their own. */
const STARTS = { most: 10, pauseMs: 1000 }

export interface Ticker {
  /** Ends with this process too, however that ends. */
  close(): void
}

/**
 * Starts one for the callers of `place`, and another when it ends.
 * @param onChange hears which process it is, or null while there is none
 */
export function startTicker(place: string, onChange: (ticker: ProcessName | null) => void): Ticker {
  const shell = process.platform === 'linux' ? SHELLS.find((path) => existsSync(path)) : undefined
  if (shell === undefined) return { close: () => undefined }
  let child: ChildProcess | null = null
  let timer: NodeJS.Timeout | null = null
  let starts = 0
  const start = () => {
    starts++
    // In a session of its own: what stops a terminal's processes must not stop the ticker.
    const started = spawn(shell, ['-c', SCRIPT, 'turnback-ticker', place], {
      cwd: '/',
      detached: true,
      env: {},
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    child = started
    started.unref()
    // It keeps nobody running.
    for (const pipe of [started.stdin, started.stdout]) if (pipe instanceof Socket) pipe.unref()
    started.stdin?.on('error', () => undefined)
    started.stdout?.once('data', () => onChange(started.pid === undefined ? null : nameProcess(started.pid)))
    started.once('error', () => onEnd())
    started.once('exit', () => onEnd())
    const onEnd = () => {
      if (child !== started) return
      child = null
      onChange(null)
      if (starts < STARTS.most) timer = setTimeout(start, STARTS.pauseMs).unref()
    }
  }
  start()
  return {
    close() {
      if (timer !== null) clearTimeout(timer)
      const last = child
      child = null
      last?.stdin?.end()
    },
  }
}
