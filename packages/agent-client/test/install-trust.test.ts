import { existsSync, readFileSync, rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { runHere } from './support/command-here.ts'
import { makeInstallScene, putFile } from './support/install-scene.ts'

let top: string
let env: Record<string, string>
let user: string
let project: string
beforeEach(() => {
  ;({ top, env, user, project } = makeInstallScene())
  env.PATH = `${join(top, 'bin')}:/usr/bin:/bin`
})
afterEach(() => rmSync(top, { recursive: true, force: true }))

const run = (...args: string[]) => runHere(env, project, args)

/** Answers as Codex 0.171 does: by hooks.json, and by the hashes that config.toml holds. */
const CODEX = `#!${process.execPath}
const { readFileSync } = require('node:fs')
const { createHash } = require('node:crypto')
if (process.argv[2] === '--version') { console.log('codex-cli 0.171.0'); process.exit() }
const home = process.env.HOME + '/.codex'
const read = (name) => { try { return readFileSync(home + '/' + name, 'utf8') } catch { return '' } }
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (method === 'initialize') console.log(JSON.stringify({ id, result: { userAgent: 'x' } }))
  if (method !== 'hooks/list') return
  console.log(JSON.stringify({ method: 'configWarning', params: {} }))
  const config = read('config.toml')
  const hooks = Object.entries(JSON.parse(read('hooks.json') || '{"hooks":{}}').hooks).flatMap(([event, groups]) =>
    groups.flatMap((group, i) => group.hooks.map((hook, j) => {
      const key = home + '/hooks.json:' + event + ':' + i + ':' + j
      const currentHash = 'sha256:' + createHash('sha256').update(JSON.stringify([event, hook])).digest('hex')
      const at = config.indexOf('[hooks.state.' + JSON.stringify(key) + ']')
      const trustStatus = at < 0 ? 'untrusted' : config.slice(at).split('\\n')[1].includes(currentHash) ? 'trusted' : 'modified'
      return { key, command: hook.command, enabled: true, currentHash, trustStatus }
    })))
  console.log(JSON.stringify({ id, result: { data: [{ cwd: params.cwds[0], hooks }] } }))
})
`

test('Codex: not trusted is said, trusted only by the person’s word, and gone with the rest', async () => {
  putFile(join(top, 'bin/codex'), CODEX, 0o755)
  const config = join(user, '.codex/config.toml')
  putFile(config, 'model = "x"\n')
  const plain = await run('install', 'codex')
  expect(plain.json).toMatchObject({ installed: true, trusted: false })
  expect(JSON.stringify(plain.json.notes)).toContain('/hooks')
  expect(readFileSync(config, 'utf8')).not.toContain('trusted_hash')
  const ill = (await run('doctor')).json
  expect(ill).toMatchObject({ ok: false, agents: [{ trusted: false, version: '0.171.0' }] })
  expect(JSON.stringify(ill.problems)).toContain('does not trust the hooks')

  expect((await run('install', 'codex', '--trust')).json).toMatchObject({ trusted: true })
  const once = readFileSync(config, 'utf8')
  expect(once.match(/trusted_hash/g)).toHaveLength(8)
  expect((await run('install', 'codex', '--trust')).json).toMatchObject({ trusted: true, changed: [] })
  expect(readFileSync(config, 'utf8')).toBe(once)

  // Another checkout's hooks have other hashes: trust is asked for anew.
  const hooks = join(user, '.codex/hooks.json')
  putFile(hooks, readFileSync(hooks, 'utf8').replaceAll('"timeout": 15', '"timeout": 16'))
  expect((await run('doctor')).json).toMatchObject({ agents: [{ trusted: false }] })
  expect((await run('install', 'codex', '--trust')).json).toMatchObject({ trusted: true })

  await run('uninstall', 'codex')
  expect(readFileSync(config, 'utf8')).toBe('model = "x"\n')
})

test('a Codex that does not answer, or is not there: not known, and --trust says so', async () => {
  putFile(join(top, 'bin/codex'), '#!/bin/sh\nexit 3\n', 0o755)
  expect((await run('install', 'codex', '--trust')).json).toMatchObject({ installed: true, trusted: null })
  rmSync(join(top, 'bin/codex'))
  const { json } = await run('install', 'codex', '--trust')
  expect(json).toMatchObject({ trusted: null })
  expect(JSON.stringify(json.notes)).toContain('not on the PATH')
  expect((await run('install', 'cursor', '--trust')).code).toBe(2)
})

test.each([
  ['no word of the folder', {}, {}, null],
  ['a folder above is trusted', {}, { above: 'TRUST_FOLDER' }, true],
  ['the nearest word counts', {}, { above: 'TRUST_FOLDER', project: 'DO_NOT_TRUST' }, false],
  ['its parent is trusted', {}, { project: 'TRUST_PARENT' }, true],
  ['trust is switched off', { security: { folderTrust: { enabled: false } } }, {}, true],
  ['hooks are switched off', { hooksConfig: { enabled: false } }, { above: 'TRUST_FOLDER' }, false],
  ['ours are switched off', { hooksConfig: { disabled: ['turnback'] } }, { above: 'TRUST_FOLDER' }, false],
] as const)('Gemini CLI, %s', async (_, settings, rules, trusted) => {
  putFile(join(user, '.gemini/settings.json'), JSON.stringify(settings))
  const places: Record<string, string> = { above: top, project }
  const folders = Object.fromEntries(Object.entries(rules).map(([place, level]) => [places[place], level]))
  putFile(join(user, '.gemini/trustedFolders.json'), JSON.stringify(folders))
  expect((await run('install', 'gemini-cli')).json).toMatchObject({ installed: true, trusted })
})

test('Claude Code whose hooks are switched off', async () => {
  putFile(join(project, '.claude/settings.json'), '{ "disableAllHooks": true }')
  const { json } = await run('install', 'claude-code')
  expect(json).toMatchObject({ installed: true, trusted: false })
  expect(JSON.stringify(json.notes)).toContain('disableAllHooks')
})

test('what a killed install left beside the settings goes with the next', async () => {
  const settings = join(user, '.claude/settings.json')
  putFile(settings, '{}')
  const [old, fresh] = ['0123456789ab', 'ba9876543210'].map((name) =>
    join(user, `.claude/.settings.json.${name}.tmp`),
  )
  for (const file of [old, fresh]) putFile(String(file), '{')
  utimesSync(String(old), 1000, 1000)
  await run('install', 'claude-code')
  expect([existsSync(String(old)), existsSync(String(fresh))]).toEqual([false, true])
})
