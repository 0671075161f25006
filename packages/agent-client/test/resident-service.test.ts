import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { describeService } from '#resident/service-file.ts'
import { turnback } from './support/command-line.ts'

let top: string
let env: Record<string, string>

/** A `systemctl` that writes down what it is asked, and refuses when a file says so. */
beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), 'turnback service %h $x-')))
  mkdirSync(join(top, 'bin'))
  writeFileSync(
    join(top, 'bin/systemctl'),
    `#!/bin/sh\necho "$*" >>'${top}/asked'\nif [ -e '${top}/refuse' ]; then echo 'Failed to connect to bus' >&2; exit 1; fi\n`,
  )
  chmodSync(join(top, 'bin/systemctl'), 0o755)
  env = {
    PATH: `${join(top, 'bin')}:${process.env.PATH ?? ''}`,
    HOME: join(top, 'user'),
    TURNBACK_HOME: join(top, 'home'),
    TURNBACK_TOKEN: 'tb_not-for-the-file',
  }
})

afterEach(() => rmSync(top, { recursive: true, force: true }))

const asked = () =>
  existsSync(join(top, 'asked')) ? readFileSync(join(top, 'asked'), 'utf8').trim().split('\n') : []

test.skipIf(process.platform !== 'linux')(
  'a unit of systemd is written, started, left alone, and removed',
  async () => {
    const file = join(top, 'user/.config/systemd/user/turnback.service')
    const shown = await turnback(env, top, 'connect', '--service', '--dry-run', '--json')
    expect(shown.json).toMatchObject({ manager: 'systemd', file })
    expect(existsSync(file)).toBe(false)
    expect(asked()).toEqual([])

    const first = await turnback(env, top, 'connect', '--service', '--json')
    expect(first.json).toMatchObject({ file, written: true, stopped: null })
    const text = readFileSync(file, 'utf8')
    expect(text).toBe(shown.json.text)
    expect(statSync(file).mode & 0o077).toBe(0)
    expect(text).toMatch(/^ExecStart="\/.*bin\/turnback" connect --foreground$/m)
    expect(text).toContain(`Environment="TURNBACK_HOME=${top.replaceAll('%', '%%')}/home"\n`)
    expect(text).not.toContain('tb_not-for-the-file')
    expect(asked()).toEqual(['--user daemon-reload', '--user enable --now turnback.service'])

    expect((await turnback(env, top, 'connect', '--service', '--json')).json).toMatchObject({
      written: false,
    })
    const removed = await turnback(env, top, 'disconnect', '--service', '--json')
    expect(removed.json).toMatchObject({ removed: true, stopped: null })
    expect(existsSync(file)).toBe(false)
    expect(asked().at(-1)).toBe('--user disable --now turnback.service')
    expect((await turnback(env, top, 'disconnect', '--service', '--json')).json).toMatchObject({
      removed: false,
    })
  },
)

test.skipIf(process.platform !== 'linux')(
  'a manager that refuses, and a file of somebody else, are told',
  async () => {
    writeFileSync(join(top, 'refuse'), '')
    const refused = await turnback(env, top, 'connect', '--service', '--json')
    expect(refused.code).toBe(1)
    expect(refused.json).toMatchObject({
      error: {
        code: 'SERVICE_REFUSED',
        details: { command: 'systemctl --user daemon-reload', why: 'Failed to connect to bus' },
      },
    })
    const file = join(top, 'user/.config/systemd/user/turnback.service')
    writeFileSync(file, '[Service]\nExecStart=/bin/true\n')
    for (const command of ['connect', 'disconnect']) {
      const other = await turnback(env, top, command, '--service', '--json')
      expect(other.json).toMatchObject({ error: { code: 'VALIDATION_FAILED' } })
    }
    expect(readFileSync(file, 'utf8')).toBe('[Service]\nExecStart=/bin/true\n')
  },
)

const facts = {
  uid: 501,
  program: '/opt/a "b" %h $x\\/<&>/bin/turnback',
  env: { PATH: '/usr/bin:/bin', TURNBACK_HOME: '/data/100%' },
  user: '/Users/ada',
  logs: '/data/logs',
}

test('names keep their meaning in a unit', () => {
  const { text } = describeService({ ...facts, platform: 'linux' })
  expect(text).toContain('ExecStart="/opt/a \\"b\\" %%h $$x\\\\/<&>/bin/turnback" connect --foreground\n')
  expect(text).toContain('Environment="TURNBACK_HOME=/data/100%%"\n')
})

test('an agent of launchd', () => {
  const { file, text, start, stop } = describeService({ ...facts, platform: 'darwin' })
  expect(file).toBe('/Users/ada/Library/LaunchAgents/dev.turnback.client.plist')
  expect(text).toContain('<string>/opt/a "b" %h $x\\/&lt;&amp;&gt;/bin/turnback</string>')
  expect(text).toContain('<key>TURNBACK_HOME</key><string>/data/100%</string>')
  expect(start).toEqual([['launchctl', 'bootstrap', 'gui/501', file]])
  expect(stop).toEqual([['launchctl', 'bootout', 'gui/501/dev.turnback.client']])
  const parse =
    'import plistlib,sys; p=plistlib.loads(sys.stdin.buffer.read()); print(p["ProgramArguments"][0], p["KeepAlive"])'
  const read = spawnSync('python3', ['-c', parse], { input: text, encoding: 'utf8' })
  // Where there is no Python, the lines above have to do.
  if (read.error === undefined) expect(read.stdout).toBe(`${facts.program} {'SuccessfulExit': False}\n`)
})

test('what no such file can hold, and other systems, are refused', () => {
  expect(() => describeService({ ...facts, platform: 'linux', program: '/a\nExecStart=/bin/evil' })).toThrow()
  expect(() => describeService({ ...facts, platform: 'win32' })).toThrow(/systemd and launchd/)
})
