/*
 * Stands before `turnback hook` in an agent's settings: keeps what the agent said and how long it was kept waiting.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { field } from './models/model-server.ts'

export interface HookCall {
  /** What follows the program's name in the settings. */
  readonly words: string
  readonly payload: string
  readonly ms: number
  readonly code: number
  readonly output: string
}

export interface HookRecorder {
  /** The calls so far, in their order. */
  calls(): HookCall[]
}

/** Replaces `program` by the recorder in the given files. @throws when none of them calls it */
export function recordHooks(program: string, files: readonly string[], folder: string): HookRecorder {
  mkdirSync(folder)
  // Named so, because the agent's process is the nearest one above a hook that is no shell.
  const script = join(folder, 'sh')
  writeFileSync(script, recorderOf(program, folder), { mode: 0o755 })
  let found = 0
  for (const file of files) {
    const text = readFileSync(file, 'utf8')
    const pieces = text.split(program)
    found += pieces.length - 1
    if (pieces.length > 1) writeFileSync(file, pieces.join(script))
  }
  if (found === 0) throw new Error(`${program} is not called in ${files.join(', ')}`)
  return { calls: () => readCalls(folder) }
}

const recorderOf = (program: string, folder: string) => `#!/bin/sh
n='${folder}'/$(date +%s%N)-$$
cat >"$n.in"
since=$(date +%s%N)
'${program}' "$@" <"$n.in" >"$n.out"
code=$?
echo "$code $((($(date +%s%N) - since) / 1000)) $*" >"$n.said"
cat "$n.out"
exit $code
`

function readCalls(folder: string): HookCall[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.said'))
  return names.sort().map((name) => {
    const base = join(folder, name.slice(0, -'.said'.length))
    const [code = '', micros = '', ...words] = readFileSync(`${base}.said`, 'utf8').trim().split(' ')
    return {
      words: words.join(' '),
      payload: readFileSync(`${base}.in`, 'utf8'),
      ms: Number(micros) / 1000,
      code: Number(code),
      output: readFileSync(`${base}.out`, 'utf8'),
    }
  })
}

/** For who reads the output: nothing is asserted of times, which are those of a machine that does other things too. */
export function tellTimes(agent: string, how: string, calls: readonly HookCall[]): void {
  const events = Map.groupBy(calls, (each) => eventOf(each))
  const said = [...events].map(([event, of]) => {
    const times = of.map(({ ms }) => ms).sort((a, b) => a - b)
    return `${event} ${of.length}× ${times[Math.floor(times.length / 2)]?.toFixed(0)} ms`
  })
  console.log(`${agent}, hooks ${how} (median): ${said.join(', ')}`)
}

function eventOf({ words, payload }: HookCall): string {
  // Codex puts what it says to `notify` behind the words.
  const said: unknown = JSON.parse(payload || words.slice(words.indexOf('{')))
  const named = ['hook_event_name', 'event', 'type']
    .map((name) => field(said, name))
    .find((name) => typeof name === 'string')
  return typeof named === 'string' ? named : (words.split(' ')[2] ?? '')
}

/**
 * Writes what the agent said to its hooks into `$TURNBACK_AGENTS_PAYLOADS/<agent>`, if that is set, with neutral paths:
 * the parsers' own tests stand on these.
 */
export function keepPayloads(agent: string, top: string, calls: readonly HookCall[]): void {
  const into = process.env.TURNBACK_AGENTS_PAYLOADS
  if (!into) return
  const folder = join(into, agent)
  mkdirSync(folder, { recursive: true })
  const names = top.replaceAll('/', '-')
  for (const [at, call] of calls.entries()) {
    const said = call.payload || call.words.slice(call.words.indexOf('{'))
    const neutral = said
      .replaceAll(`${top}/project`, '$TREE')
      .replaceAll(`${top}/home`, '$HOME')
      .replaceAll(`${names}-project`, '-tree')
    const name = `${String(at + 1).padStart(2, '0')}-${eventOf(call).replaceAll(/[^\w.]+/g, '-')}.json`
    writeFileSync(join(folder, name), `${JSON.stringify(JSON.parse(neutral), null, 2)}\n`)
  }
}
