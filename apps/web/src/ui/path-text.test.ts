import { expect, it } from 'vitest'
import { splitPath } from './path-text.tsx'
import { makeVisible } from './visible.ts'

it('keeps the end of a path and loses nothing', () => {
  for (const path of [
    'a.ts',
    'src/features/turns/turn-list.tsx',
    'x'.repeat(300),
    `${'d/'.repeat(100)}${'n'.repeat(80)}.ts`,
  ]) {
    const { head, tail } = splitPath(path)
    expect(head + tail).toBe(path)
    expect(tail.length).toBeLessThanOrEqual(32)
  }
  expect(splitPath('src/features/turns/turn-list.tsx').tail).toBe('/turn-list.tsx')
})

it('shows characters that hide or turn text round', () => {
  expect(makeVisible('a\u202eb\u200bc')).toBe('a⟨U+202E⟩b⟨U+200B⟩c')
  expect(makeVisible('tab\tand\nline, ü, 日本, 👍')).toBe('tab\tand\nline, ü, 日本, 👍')
})
