import type { Home } from '#ports.ts'
import { readToml, removeBlock } from './block-edit.ts'
import { type Change, carryOut, planInstall, planUninstall } from './change-settings.ts'
import { chatFiles } from './chat-files.ts'
import { type CodexHook, listCodexHooks, trustBlock } from './codex-trust.ts'
import { holdsOurs } from './edits.ts'
import { decodeSettings, readSettings } from './settings-file.ts'
import type { AgentSetup, Edit, FileSetup, Level, SetupFacts } from './setup.ts'

/** Every file in which any kind of installation at this level puts something, and all that it puts there. */
export function listEvery(setup: AgentSetup, facts: SetupFacts): readonly FileSetup[] {
  const files = [...setup.files({ ...facts, mcp: true }), ...chatFiles(setup.name, setup.folder(facts))]
  if (setup.name !== 'codex') return files
  const trust: Edit = { kind: 'block', name: 'trust', place: 'end', text: '', unless: ['hooks', 'state'] }
  return files.map(({ file, edits }) => ({
    file,
    edits: edits.some(({ kind }) => kind === 'block') ? [...edits, trust] : edits,
  }))
}

export interface AgentPlan {
  readonly changes: readonly Change[]
  /** Files of somebody else that have the name of a command of ours: they stay, and the command is not there. */
  readonly taken: readonly string[]
}

/** @throws SETTINGS_REFUSED; nothing is written by this */
export function planAgent(home: Home, setup: AgentSetup, given: SetupFacts): AgentPlan {
  const every = listEvery(setup, given)
  // What was asked for once stays, and is renewed with the rest.
  const facts = { ...given, mcp: given.mcp || hasMcp(setup, given) }
  const [taken, chat] = partition(chatFiles(setup.name, setup.folder(facts)), isTaken)
  const changes = [...setup.files(facts), ...chat].map(({ file, edits }) =>
    planInstall(home, {
      ...{ agent: setup.name, level: facts.level, file, edits },
      every: every.find((each) => each.file === file)?.edits ?? edits,
    }),
  )
  return { changes, taken: taken.map(({ file }) => file) }
}

function isTaken({ file, edits }: FileSetup): boolean {
  const text = decodeSettings(readSettings(file))
  return text !== null && text.trim() !== '' && !holdsOurs(text, edits)
}

function partition<T>(all: readonly T[], isMeant: (each: T) => boolean): [T[], T[]] {
  return [all.filter(isMeant), all.filter((each) => !isMeant(each))]
}

/** At one level, or at both. @throws SETTINGS_REFUSED; nothing is written by this */
export function planRemoval(
  home: Home,
  setup: AgentSetup,
  facts: SetupFacts,
  levels: readonly Level[],
): Change[] {
  return levels
    .flatMap((level) => listEvery(setup, { ...facts, level }))
    .map(({ file, edits }) => planUninstall(home, file, edits))
}

function hasMcp(setup: AgentSetup, facts: SetupFacts): boolean {
  const plain = setup.files({ ...facts, mcp: false }).flatMap(({ edits }) => edits)
  const isMore = (edit: Edit) => !plain.some((each) => JSON.stringify(each) === JSON.stringify(edit))
  return setup.files({ ...facts, mcp: true }).some(({ file, edits }) => {
    const more = edits.filter(isMore)
    if (more.length === 0) return false
    try {
      return holdsOurs(decodeSettings(readSettings(file)) ?? '', more)
    } catch {
      // What is wrong with it is said when it is planned.
      return false
    }
  })
}

/**
 * Has Codex trust our hooks, as `/hooks` in it does: a person has said yes to it.
 * @returns the hooks that it does not trust all the same, because its settings say something else of them; null when Codex says nothing
 */
export async function trustCodexHooks(
  home: Home,
  codex: string,
  facts: SetupFacts,
  setup: AgentSetup,
  folder: string,
): Promise<CodexHook[] | null> {
  const hooks = await listCodexHooks(codex, facts, folder)
  const config = listEvery(setup, { ...facts, level: 'user' }).find(({ file }) => file.endsWith('.toml'))
  if (hooks === null || config === undefined) return null
  const { file, edits } = config
  const bare = removeBlock(decodeSettings(readSettings(file)) ?? '', 'trust')
  const isOthers = isInState(bare)
  const ours = hooks.filter(({ key }) => !isOthers(key))
  if (ours.length > 0) {
    const request = {
      agent: setup.name,
      level: 'user' as const,
      file,
      edits: [trustBlock(ours)],
      every: edits,
    }
    carryOut(home, [planInstall(home, request)])
  }
  return (await listCodexHooks(codex, facts, folder))?.filter(({ isTrusted }) => !isTrusted) ?? null
}

function isInState(text: string): (key: string) => boolean {
  const { hooks } = readToml(text)
  const state: unknown = typeof hooks === 'object' && hooks !== null ? Reflect.get(hooks, 'state') : null
  return (key) => typeof state === 'object' && state !== null && Reflect.has(state, key)
}
