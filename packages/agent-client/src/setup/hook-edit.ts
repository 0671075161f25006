import { isDeepStrictEqual } from 'node:util'
import { parseHookLine } from './hook-line.ts'
import { findAt, insertAt, type JsonPath, parseSettings, readNode, removeAt } from './json-text.ts'
import type { HookEntry, HooksEdit } from './setup.ts'

const HOOKS = 'hooks'

/** A hook of ours in a file. */
interface Found {
  readonly event: string
  /** Of the entry. */
  readonly path: JsonPath
  /** Of what goes with it when it goes: its group, if that holds nothing else. */
  readonly whole: JsonPath
  readonly matcher: string | null
  readonly entry: unknown
}

/** The text with all hooks of the edit; those that are right already are left as they are. @throws SettingsFault */
export function applyHooks(text: string, edit: HooksEdit): string {
  let edited = text
  for (const { hook, found } of pair(text, edit))
    if (!isRight(hook, found)) edited = removeAll(edited, edit, ({ event }) => event === hook.event)
  const wanted = new Set(edit.hooks.map(({ event }) => event))
  edited = removeAll(edited, edit, ({ event }) => !wanted.has(event))
  for (const { hook, found } of pair(edited, edit)) {
    if (found.length > 0) continue
    const entry = edit.shape === 'flat' ? hook.entry : group(hook)
    edited = insertAt(edited, [HOOKS, hook.event], entry, 'item')
  }
  return edited
}

/** The lines of ours in the text. @throws SettingsFault */
export function listHookLines(text: string, edit: HooksEdit): { event: string; line: string }[] {
  return findOurs(text, edit).flatMap(({ event, entry }) => {
    const line = memberOf(entry, edit.lineIn)
    return typeof line === 'string' ? [{ event, line }] : []
  })
}

/**
 * The text without any hook of ours, and without lists that are empty by that.
 * @param before the text before ours came; what was empty there already stays
 * @throws SettingsFault
 */
export function removeHooks(text: string, edit: HooksEdit, before: string): string {
  return removeAll(text, edit, () => true, before)
}

/** The text without the list or object at this place, if it is empty and was not before. @throws SettingsFault */
export function removeEmpty(text: string, path: JsonPath, before: string): string {
  const node = findAt(parseSettings(text), path)
  const isEmpty = node?.children?.length === 0
  return isEmpty && findAt(parseSettings(before), path) === undefined ? removeAt(text, path) : text
}

function pair(text: string, edit: HooksEdit): { hook: HookEntry; found: Found[] }[] {
  const ours = findOurs(text, edit)
  return edit.hooks.map((hook) => ({ hook, found: ours.filter(({ event }) => event === hook.event) }))
}

function isRight(hook: HookEntry, found: readonly Found[]): boolean {
  const [only] = found
  return found.length === 1 && only?.matcher === hook.matcher && isDeepStrictEqual(only?.entry, hook.entry)
}

function group({ matcher, entry }: HookEntry): object {
  return { ...(matcher === null ? {} : { matcher }), hooks: [entry] }
}

function removeAll(text: string, edit: HooksEdit, isMeant: (found: Found) => boolean, before = ''): string {
  let edited = text
  for (;;) {
    // Looked for anew after each: the places of the others have changed.
    const found = findOurs(edited, edit).find(isMeant)
    if (found === undefined) return edited
    edited = removeAt(edited, found.whole)
    for (const path of [[HOOKS, found.event], [HOOKS]]) edited = removeEmpty(edited, path, before)
  }
}

function findOurs(text: string, edit: HooksEdit): Found[] {
  const events = readNode(findAt(parseSettings(text), [HOOKS]))
  if (typeof events !== 'object' || events === null) return []
  return Object.entries(events).flatMap(([event, list]) =>
    !Array.isArray(list)
      ? []
      : edit.shape === 'flat'
        ? findInList(edit, list, [HOOKS, event], event)
        : list.flatMap((each: unknown, index) => findInGroup(edit, each, [HOOKS, event, index], event)),
  )
}

function findInList(edit: HooksEdit, list: readonly unknown[], at: JsonPath, event: string): Found[] {
  return list.flatMap((entry, index) => {
    if (parseHookLine(memberOf(entry, edit.lineIn), edit.agent) === null) return []
    const path = [...at, index]
    return [{ event, path, whole: path, matcher: null, entry }]
  })
}

function findInGroup(edit: HooksEdit, each: unknown, at: JsonPath, event: string): Found[] {
  const hooks = memberOf(each, HOOKS)
  if (!Array.isArray(hooks)) return []
  const found = findInList(edit, hooks, [...at, HOOKS], event)
  const given = memberOf(each, 'matcher')
  const matcher = typeof given === 'string' ? given : null
  return found.map((one) => ({ ...one, matcher, whole: hooks.length === 1 ? at : one.path }))
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
