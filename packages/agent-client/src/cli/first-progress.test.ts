import { expect, test } from 'vitest'
import { showProgress } from './first-progress.ts'

test('a long first capture is shown in one line, which is gone at the end', () => {
  let nowMs = 0
  let text = ''
  const show = showProgress(
    (more) => {
      text += more
    },
    () => nowMs,
  )
  show({ files: 1, bytes: 10, ofFiles: 9000 })
  expect(text).toBe('')
  nowMs = 600
  show({ files: 1200, bytes: 34_560_000, ofFiles: 9000 })
  show({ files: 1201, bytes: 34_560_001, ofFiles: 9000 })
  const line = 'first capture: 1200 of 9000 files, 34.6 MB'
  expect(text).toBe(`\r${line}`)
  show({ files: 9000, bytes: 99_000_000, ofFiles: 9000 })
  expect(text).toBe(`\r${line}\r${' '.repeat(line.length)}\r`)
})

test('a short one is not shown at all', () => {
  let text = ''
  const show = showProgress(
    (more) => {
      text += more
    },
    () => 0,
  )
  show({ files: 3, bytes: 10, ofFiles: 4 })
  show({ files: 4, bytes: 10, ofFiles: 4 })
  expect(text).toBe('')
})
