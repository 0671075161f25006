import { expect, test } from 'vitest'
import { inPlainLines, onOneLine } from './visible.ts'

test('what a terminal would obey is shown instead', () => {
  expect(onOneLine('esc\u001b[31mred.txt')).toBe('esc\\x1b[31mred.txt')
  expect(onOneLine('a\nrestored  b')).toBe('a\\nrestored  b')
  expect(onOneLine('x\u202etxt.exe')).toBe('x\\u202etxt.exe')
  expect(onOneLine('\u009b2J\u007f')).toBe('\\x9b2J\\x7f')
})

test('names of all scripts stay as they are', () => {
  for (const name of ['日本語.md', 'é.txt', '🙂', 'a b', 'b64:_y50']) expect(onOneLine(name)).toBe(name)
})

test('lines of words stay lines', () => {
  expect(inPlainLines('one\ntwo\u001b[0m\r')).toBe('one\ntwo\\x1b[0m\\x0d')
})
