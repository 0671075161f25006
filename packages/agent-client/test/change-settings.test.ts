import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { findHome } from '#config.ts'
import { carryOut, planInstall, planUninstall } from '#setup/change-settings.ts'
import type { Edit } from '#setup/setup.ts'

let top: string
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'turnback-settings-'))
})
afterEach(() => rmSync(top, { recursive: true, force: true }))

const EDITS: readonly Edit[] = [
  { kind: 'member', path: ['mcpServers', 'turnback'], value: { command: '/x/turnback' } },
]

test('several files: when another program changes one in the very moment, all are as they were', () => {
  const home = findHome({ TURNBACK_HOME: join(top, 'home') })
  const files = ['new.json', 'old.json', 'raced.json'].map((name) => join(top, name))
  const [made = '', old = '', raced = ''] = files
  writeFileSync(old, '{"a":1}')
  writeFileSync(raced, '{"a":1}')
  const plan = () =>
    files.map((file) =>
      planInstall(home, { agent: 'cursor', level: 'user', file, edits: EDITS, every: EDITS }),
    )
  const changes = plan()
  writeFileSync(raced, '{"a":2}')
  expect(() => carryOut(home, changes)).toThrow('Another program changed it meanwhile')
  expect(existsSync(made)).toBe(false)
  expect(readFileSync(old, 'utf8')).toBe('{"a":1}')
  expect(readFileSync(raced, 'utf8')).toBe('{"a":2}')
  expect(readdirSync(top).toSorted()).toEqual(['home', 'old.json', 'raced.json'])
  expect(readdirSync(join(top, 'home/agents'))).toEqual([])

  carryOut(home, plan())
  expect(readFileSync(raced, 'utf8')).toContain('turnback')
  carryOut(
    home,
    files.map((file) => planUninstall(home, file, EDITS)),
  )
  expect(readFileSync(raced, 'utf8')).toBe('{"a":2}')
  expect(readdirSync(join(top, 'home/agents'))).toEqual([])
})
