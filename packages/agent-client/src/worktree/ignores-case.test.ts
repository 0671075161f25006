import { expect, test } from 'vitest'
import { ignoresCase } from './ignores-case.ts'

/** A disk with these paths; a path's place is its spelling, in one case when that is ignored. */
function diskOf(paths: readonly string[], isIgnoring: boolean) {
  const placeOf = (path: string): string => (isIgnoring ? path.toLowerCase() : path)
  return {
    place: (path: string) => (paths.some((each) => placeOf(each) === placeOf(path)) ? placeOf(path) : null),
    list: (folder: string) =>
      paths.filter((path) => path.startsWith(`${folder}/`)).map((path) => path.slice(folder.length + 1)),
  }
}

test.each([[true], [false]])('a disk that ignores case: %s', (isIgnoring) => {
  const ask = (...paths: string[]) => ignoresCase('/w', diskOf(['/w', ...paths], isIgnoring))
  expect(ask('/w/1', '/w/Readme.md')).toBe(isIgnoring)
  expect(ask('/w/123'), 'by its own name').toBe(isIgnoring)
  expect(ask('/w/_')).toBe(isIgnoring)
})

test('a name that goes meanwhile says nothing, and a folder that cannot be listed minds case', () => {
  const disk = diskOf(['/w', '/w/gone', '/w/there'], true)
  const place = (path: string) => (path.endsWith('gone') ? null : disk.place(path))
  expect(ignoresCase('/w', { ...disk, place })).toBe(true)
  const list = () => {
    throw Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES', syscall: 'scandir' })
  }
  expect(ignoresCase('/w', { ...disk, list })).toBe(false)
})

test('two names that differ in case only show that it is not ignored', () => {
  expect(ignoresCase('/1', diskOf(['/1', '/1/a', '/1/A'], false))).toBe(false)
})
