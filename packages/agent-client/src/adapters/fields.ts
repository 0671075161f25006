/** Narrow readers for what agents send: a field of another kind than it should have is as if it were not there. */

export type Fields = Readonly<Record<string, unknown>>

export function asFields(value: unknown): Fields | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null
}

/** The first of these fields that is a text and not empty. */
export function textIn(fields: Fields | null, ...names: readonly string[]): string | null {
  for (const name of names) {
    const value = fields?.[name]
    if (typeof value === 'string' && value !== '') return value
  }
  return null
}

export function fieldsIn(fields: Fields | null, name: string): Fields | null {
  return asFields(fields?.[name])
}

export function listIn(fields: Fields | null, name: string): readonly unknown[] {
  const value = fields?.[name]
  return Array.isArray(value) ? value : []
}

/** All texts of these fields, each once. */
export function textsIn(fields: Fields | null, ...names: readonly string[]): string[] {
  return [...new Set(names.flatMap((name) => textIn(fields, name) ?? []))]
}
