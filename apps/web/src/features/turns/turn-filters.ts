import { type MachineId, machineIdSchema, type TurnKind, turnKindSchema } from '@turnback/core'

/** What the list is narrowed to. Stands in the address, so that a view can be sent to someone. */
export interface TurnFilters {
  readonly q?: string
  readonly kind?: TurnKind
  readonly agent?: string
  readonly machine?: MachineId
  readonly path?: string
}

export const filterNames = ['q', 'kind', 'agent', 'machine', 'path'] as const
export type FilterName = (typeof filterNames)[number]

/** Reads the filters of an address. What is not a filter, or not a value of it, is left out. */
export function parseTurnFilters(search: URLSearchParams): TurnFilters {
  const kind = turnKindSchema.safeParse(search.get('kind'))
  const machine = machineIdSchema.safeParse(search.get('machine'))
  const q = textOf(search.get('q'), 200)
  const agent = textOf(search.get('agent'), 100)
  const path = textOf(search.get('path'), 4096)
  return {
    ...(q === null ? {} : { q }),
    ...(kind.success ? { kind: kind.data } : {}),
    ...(agent === null ? {} : { agent }),
    ...(machine.success ? { machine: machine.data } : {}),
    ...(path === null ? {} : { path }),
  }
}

/** The address's search with one filter changed; an empty value takes it out. */
export function withFilter(search: URLSearchParams, name: FilterName, value: string): string {
  const next = new URLSearchParams(search)
  if (value.trim() === '') next.delete(name)
  else next.set(name, value.trim())
  return next.toString()
}

export function countFilters(filters: TurnFilters): number {
  return filterNames.filter((name) => filters[name] !== undefined).length
}

function textOf(value: string | null, max: number): string | null {
  const text = value?.trim() ?? ''
  return text === '' ? null : text.slice(0, max)
}
