import type { Checklist, ChecklistItem } from '#agent-ports.ts'
import { asFields, type Fields, textIn } from './fields.ts'

/** The agents' own words for how far an entry is. */
const STATUS = new Map<string, ChecklistItem['status']>(
  Object.entries({
    pending: 'pending',
    todo: 'pending',
    in_progress: 'in-progress',
    completed: 'done',
    done: 'done',
    cancelled: 'dropped',
    deleted: 'dropped',
  } as const),
)

/** A whole list. @param names the fields that may hold an entry's text */
export function wholeList(items: readonly unknown[], ...names: readonly string[]): Checklist {
  return { isWhole: true, items: items.flatMap((each) => toItem(asFields(each), names) ?? []) }
}

export function toItem(fields: Fields | null, names: readonly string[]): ChecklistItem | null {
  if (fields === null) return null
  const status = textIn(fields, 'status')
  const id = textIn(fields, 'id', 'taskId')
  const text = textIn(fields, ...names)
  if (id === null && text === null) return null
  return { id, text, status: status === null ? null : (STATUS.get(status) ?? null) }
}
