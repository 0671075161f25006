import { type HookCall, holdsOurs, isApplied, listHookCalls } from './edits.ts'
import { parseHookLine } from './hook-line.ts'
import { listEvery } from './install-agent.ts'
import { isProgram } from './run-program.ts'
import { decodeSettings, inFile, readSettings } from './settings-file.ts'
import type { AgentSetup, Edit, Level, SetupFacts } from './setup.ts'

/** How an agent's settings stand at one level. */
export interface Inspection {
  readonly level: Level
  /** Files that hold something of ours. */
  readonly files: readonly string[]
  /** Lines that the agent starts and that may be started to see whether they work, each once. */
  readonly lines: readonly string[]
  /** Programs that a project names and that are not this one. They came with its files, so nobody here starts them. */
  readonly strange: readonly string[]
  /** Events that nothing of ours hears. */
  readonly missing: readonly string[]
  /** Programs that lines name and that are not there: a checkout was moved or removed. */
  readonly gone: readonly string[]
  /** All is exactly as this version would write it. */
  readonly isCurrent: boolean
  /** What stands in the way of reading the settings; null when nothing. */
  readonly trouble: string | null
}

/** Null when nothing of ours is there. */
export function inspectAgent(setup: AgentSetup, facts: SetupFacts): Inspection | null {
  const { level } = facts
  try {
    const files = listEvery(setup, facts).flatMap(({ file, edits }) => {
      const text = decodeSettings(readSettings(file))
      return text === null || !holds(file, text, edits) ? [] : [{ file, text, edits }]
    })
    if (files.length === 0) return null
    const calls = files.flatMap(({ text, edits }) => listHookCalls(text, edits, setup.name))
    const wanted = setup
      .files(facts)
      .flatMap(({ edits }) =>
        edits.flatMap((edit) => (edit.kind === 'hooks' ? edit.hooks.map(({ event }) => event) : [])),
      )
    const programs = calls.flatMap(({ line }) => parseHookLine(line, setup.name)?.program ?? [])
    const isStrange = (program: string) => level === 'project' && program !== facts.program
    const mayStart = ({ line }: HookCall) => !isStrange(parseHookLine(line, setup.name)?.program ?? '')
    return {
      level,
      files: files.map(({ file }) => file),
      lines: [...new Set(calls.filter(mayStart).map(({ line }) => line))],
      strange: [...new Set(programs)].filter(isStrange),
      missing:
        calls.length === 0
          ? ['anything']
          : wanted.filter((event) => !calls.some((call) => call.event === event)),
      gone: [...new Set(programs)].filter((program) => !isProgram(program)),
      isCurrent: setup.files(facts).every(({ file, edits }) => {
        const text = decodeSettings(readSettings(file))
        return text !== null && isApplied(text, edits)
      }),
      trouble: null,
    }
  } catch (error) {
    const trouble = error instanceof Error ? error.message : String(error)
    return { level, files: [], lines: [], strange: [], missing: [], gone: [], isCurrent: false, trouble }
  }
}

function holds(file: string, text: string, edits: readonly Edit[]): boolean {
  try {
    return holdsOurs(text, edits)
  } catch (error) {
    throw inFile(file, error)
  }
}
