import type { ProjectId, RestoreId, TurnId } from '@turnback/core'

/** Every address of the web, made in one place. */
export const paths = {
  home: () => '/',
  login: (next?: string) =>
    next === undefined || next === '/' ? '/login' : `/login?next=${encodeURIComponent(next)}`,
  setUp: () => '/setup',
  machines: () => '/machines',
  turns: (project: ProjectId) => `/projects/${project}`,
  turn: (project: ProjectId, turn: TurnId, path?: string) =>
    `/projects/${project}/turns/${turn}${path === undefined ? '' : `#${encodeURIComponent(path)}`}`,
  restores: (project: ProjectId) => `/projects/${project}/restores`,
  restore: (project: ProjectId, restore: RestoreId) => `/projects/${project}/restores/${restore}`,
} as const

/**
 * Where to go after signing in. Only an address of this site is taken: anything that a browser could
 * read as another host leads home.
 */
export function safeNext(next: string | null): string {
  if (next === null || !next.startsWith('/')) return paths.home()
  const base = 'http://turnback.invalid'
  const url = URL.canParse(next, base) ? new URL(next, base) : null
  if (url === null || url.origin !== base) return paths.home()
  const target = `${url.pathname}${url.search}${url.hash}`
  return target.startsWith('//') || target.startsWith('/login') || target.startsWith('/setup')
    ? paths.home()
    : target
}

/** The path that a fragment names, or null. A fragment that is not well written names nothing. */
export function pathInFragment(hash: string): string | null {
  const text = hash.startsWith('#') ? hash.slice(1) : hash
  if (text === '') return null
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
