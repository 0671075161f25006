import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { AGENTS } from '#adapters/adapter.ts'
import { type Ran, turnback } from './support/command-line.ts'

let top: string
let run: (...args: string[]) => Promise<Ran>
beforeAll(() => {
  top = mkdtempSync(join(tmpdir(), 'turnback-completion-'))
  run = (...args) => turnback({ HOME: top, TURNBACK_HOME: join(top, 'home') }, top, ...args)
})
afterAll(() => rmSync(top, { recursive: true, force: true }))

test('bash completes commands, agents and options, and else files', async () => {
  const { stdout } = await run('completion', 'bash')
  const file = join(top, 'script')
  writeFileSync(file, stdout)
  const complete = (...typed: string[]): string[] => {
    const words = ['turnback', ...typed].map((word) => `'${word}'`).join(' ')
    const line = `source '${file}'; COMP_WORDS=(${words}); COMP_CWORD=${typed.length}; _turnback; printf '%s\\n' "\${COMPREPLY[@]}"`
    return execFileSync('bash', ['--norc', '-c', line], { encoding: 'utf8' }).trim().split('\n')
  }
  expect(complete('in')).toEqual(['init', 'install'])
  expect(complete('-C', '/some/where', 'unin')).toEqual(['uninstall'])
  expect(complete('install', 'co')).toEqual(['codex', 'copilot-cli'])
  expect(complete('install', 'codex', '--dr')).toEqual(['--dry-run'])
  expect(complete('restore', '--on-c')).toEqual(['--on-conflict'])
  expect(complete('install', '')).toEqual(expect.arrayContaining([...AGENTS, '--json']))
  expect(complete('cat', 'nothing-like-it')).toEqual([''])
})

test.each(['zsh', 'fish'])('%s is told every command', async (shell) => {
  const { stdout } = await run('completion', shell)
  for (const name of ['begin', 'undo', 'install', 'completion']) expect(stdout).toContain(name)
})

test('another shell: wrong usage', async () => {
  expect(await run('completion', 'ksh', '--json')).toMatchObject({
    code: 2,
    json: { error: { code: 'USAGE' } },
  })
})
