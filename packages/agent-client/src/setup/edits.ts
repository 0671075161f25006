import { isDeepStrictEqual } from 'node:util'
import type { AgentName } from '#adapters/adapter.ts'
import { applyBlock, hasBlock, removeBlock } from './block-edit.ts'
import { applyHooks, listHookLines, removeEmpty, removeHooks } from './hook-edit.ts'
import { hookLine } from './hook-line.ts'
import { findAt, insertAt, parseSettings, readNode, removeAt, SettingsFault } from './json-text.ts'
import { type Edit, type MemberEdit, OWN_MARK } from './setup.ts'

const BOM = '\ufeff'

/** The file's text with all edits. Texts are pure: the same text again gives the same. @param text null when there is no file @throws SettingsFault */
export function applyEdits(text: string | null, edits: readonly Edit[]): string {
  const [mark, bare] = splitMark(text ?? '')
  return mark + edits.reduce(applyEdit, bare)
}

/**
 * The file's text without anything of ours.
 * @param before the text before ours came, null when there was no file
 * @returns null when nothing is left of a file that only we made
 * @throws SettingsFault
 */
export function removeEdits(text: string, edits: readonly Edit[], before: string | null): string | null {
  const [mark, bare] = splitMark(text)
  const [, former] = splitMark(before ?? '')
  const edited = edits.reduce<string | null>(
    (left, edit) => (left === null ? null : removeEdit(left, edit, former)),
    bare,
  )
  if (edited === null || (before === null && isBare(edited, edits))) return null
  return mark + edited
}

/** Whether the text holds all that the edits want. @throws SettingsFault */
export function isApplied(text: string, edits: readonly Edit[]): boolean {
  return applyEdits(text, edits) === text
}

/** Whether the text holds anything of ours. @throws SettingsFault */
export function holdsOurs(text: string, edits: readonly Edit[]): boolean {
  const [, bare] = splitMark(text)
  return edits.some((edit) => isOurs(bare, edit))
}

function isOurs(text: string, edit: Edit): boolean {
  switch (edit.kind) {
    case 'hooks':
      return removeHooks(text, edit, '') !== text
    case 'member':
      return findOwnMember(text, edit) === 'ours'
    case 'block':
      return hasBlock(text, edit.name)
    case 'whole':
      return isOwnFile(text)
    case 'default':
      return false
  }
}

export interface HookCall {
  /** Null: of all that it hears. */
  readonly event: string | null
  readonly line: string
}

/** What the agent starts by this text. A file that is ours alone names its program in one line. @throws SettingsFault */
export function listHookCalls(text: string, edits: readonly Edit[], agent: AgentName): HookCall[] {
  const [, bare] = splitMark(text)
  return edits.flatMap((edit): HookCall[] => {
    if (edit.kind === 'hooks') return listHookLines(bare, edit)
    const program = edit.kind === 'whole' ? /^const program = (".*")$/m.exec(bare)?.[1] : undefined
    return program === undefined ? [] : [{ event: null, line: hookLine(String(JSON.parse(program)), agent) }]
  })
}

function applyEdit(text: string, edit: Edit): string {
  switch (edit.kind) {
    case 'hooks':
      return applyHooks(text, edit)
    case 'member':
      return applyMember(text, edit)
    case 'default':
      return findAt(parseSettings(text), edit.path) === undefined
        ? insertAt(text, edit.path, edit.value, 'member')
        : text
    case 'block':
      return applyBlock(text, edit)
    case 'whole':
      if (text !== '' && !isOwnFile(text))
        throw new SettingsFault(text, 0, 'somebody else’s file is in the place of ours')
      return edit.text
  }
}

function removeEdit(text: string, edit: Edit, before: string): string | null {
  switch (edit.kind) {
    case 'hooks':
      return removeHooks(text, edit, before)
    case 'member': {
      if (findOwnMember(text, edit) !== 'ours') return text
      const parents = edit.path.map((_, depth) => edit.path.slice(0, depth)).slice(1)
      return parents
        .reverse()
        .reduce((left, parent) => removeEmpty(left, parent, before), removeAt(text, edit.path))
    }
    case 'default':
      // The agent wants to see it, and others' settings may be in the file by now.
      return text
    case 'block':
      return removeBlock(text, edit.name)
    case 'whole':
      return isOwnFile(text) ? null : text
  }
}

function applyMember(text: string, edit: MemberEdit): string {
  const found = findOwnMember(text, edit)
  const name = edit.path.join('.')
  if (found === 'theirs') {
    const { offset = 0 } = findAt(parseSettings(text), edit.path) ?? {}
    throw new SettingsFault(text, offset, `"${name}" is there already, and was not written by this program`)
  }
  const node = findAt(parseSettings(text), edit.path)
  if (node !== undefined && isDeepStrictEqual(readNode(node), edit.value)) return text
  return insertAt(found === 'ours' ? removeAt(text, edit.path) : text, edit.path, edit.value, 'member')
}

/** Ours names our program, whichever checkout it is of. */
function findOwnMember(text: string, edit: MemberEdit): 'ours' | 'theirs' | null {
  const node = findAt(parseSettings(text), edit.path)
  if (node === undefined) return null
  const value: unknown = readNode(node)
  const command: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'command') : null
  const program: unknown = Array.isArray(command) ? command[0] : command
  return typeof program === 'string' && /(^|\/)turnback$/.test(program) ? 'ours' : 'theirs'
}

function isOwnFile(text: string): boolean {
  return text.slice(0, 400).includes(OWN_MARK)
}

/** Nothing but what we wrote for the agent to see. */
function isBare(text: string, edits: readonly Edit[]): boolean {
  if (text.trim() === '') return true
  if (edits.some(({ kind }) => kind === 'block')) return false
  const left = edits.reduce(
    (rest, edit) => (edit.kind === 'default' ? removeAt(rest, edit.path) : rest),
    text,
  )
  return /^\s*\{\s*\}\s*$/.test(left)
}

function splitMark(text: string): [mark: string, bare: string] {
  return text.startsWith(BOM) ? [BOM, text.slice(1)] : ['', text]
}
