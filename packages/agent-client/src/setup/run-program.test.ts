import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { findOnPath } from './run-program.ts'

let top: string
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'turnback-path-'))
  for (const folder of ['bin', 'project/bin']) {
    mkdirSync(join(top, folder), { recursive: true })
    writeFileSync(join(top, folder, 'agent'), '#!/bin/sh\n')
    chmodSync(join(top, folder, 'agent'), 0o755)
  }
  symlinkSync(join(top, 'project/bin'), join(top, 'way'))
  mkdirSync(join(top, 'pro'))
  symlinkSync(join(top, 'project'), join(top, 'link'))
})
afterEach(() => rmSync(top, { recursive: true, force: true }))

test('a program that came with a project is not found, however the PATH names its folder', () => {
  const find = (folders: readonly string[], project: string | null) =>
    findOnPath(['agent'], { env: { PATH: folders.join(':') }, project })
  const folders = [join(top, 'project/bin'), join(top, 'way'), join(top, 'none'), join(top, 'bin')]
  expect(find(folders, join(top, 'project'))).toBe(join(top, 'bin/agent'))
  expect(find(folders, join(top, 'link'))).toBe(join(top, 'bin/agent'))
  expect(find(folders, null)).toBe(join(top, 'project/bin/agent'))
  expect(find(folders, join(top, 'pro'))).toBe(join(top, 'project/bin/agent'))
})
