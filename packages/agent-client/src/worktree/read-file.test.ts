import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { WorkspaceId } from '@turnback/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Folder } from './anchored.ts'
import { readInto } from './read-file.ts'

let top: string
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'turnback-read-'))
})
afterEach(() => rmSync(top, { recursive: true }))

const workspace: WorkspaceId = 'w_01jcz0000000000000000000zz'
const request = { workspace, name: 'a', sealed: false, known: null, sizeBytes: 3, kept: null }
const folder: Folder = {
  at: (name) => Buffer.from(join(top, name)),
  get self() {
    return Buffer.from(top)
  },
  stat: () => {
    throw new Error('not asked for')
  },
  [Symbol.dispose]() {},
}

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: said the system`), { code, syscall: 'read' })
}

function storeThatFails(code: string) {
  const fail = () => {
    throw systemError(code)
  }
  return { putOpenFile: fail, idOfOpenFile: fail, has: () => false }
}

test('what is wrong with one file is said of that file', () => {
  writeFileSync(join(top, 'a'), 'abc')
  const { state } = readInto(storeThatFails('EIO'), folder, request)
  expect(state).toEqual({ kind: 'skipped', reason: 'unreadable', sizeBytes: 3 })
})

test.each(['EMFILE', 'ENFILE', 'ENOMEM'])(
  '%s is nobody’s fault but the process’s: it is not taken for a file that cannot be read',
  (code) => {
    writeFileSync(join(top, 'a'), 'abc')
    expect(() => readInto(storeThatFails(code), folder, request)).toThrow(
      expect.objectContaining({ code: 'NOT_RECORDED', details: { why: code } }),
    )
  },
)

test('what was read before is taken only for the same file, and only while its bytes are here', () => {
  writeFileSync(join(top, 'a'), 'abc')
  const blob = `p${'0'.repeat(64)}` as const
  let isHere = true
  const store = {
    putOpenFile: () => ({ blob, sizeBytes: 3 }),
    idOfOpenFile: () => ({ blob, sizeBytes: 3 }),
    has: () => isHere,
  }
  const first = readInto(store, folder, request)
  const kept = { state: first.state, stamp: first.stamp }
  expect(first.wasRead).toBe(true)
  expect(readInto(store, folder, { ...request, kept })).toEqual({ ...first, wasRead: false })
  expect(readInto(store, folder, { ...request, kept, sealed: true }).wasRead).toBe(true)
  isHere = false
  expect(readInto(store, folder, { ...request, kept }).wasRead).toBe(true)
  isHere = true
  writeFileSync(join(top, 'a'), 'abd')
  expect(readInto(store, folder, { ...request, kept }).wasRead).toBe(true)
})
