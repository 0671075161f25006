import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CLIENT_VERSION } from '#client-version.ts'
import { CaptureRig } from './support/capture-rig.ts'

let rig: CaptureRig
beforeEach(() => {
  rig = new CaptureRig('cli')
})
afterEach(() => rig.dispose())

const TURN = expect.stringMatching(/^t_[0-9a-z]{26}$/)

test('a turn from begin to cat, with the shapes of the contract', () => {
  rig.write('a.txt', 'old\n')
  rig.write('sub/b.txt', 'b\n')
  const init = rig.run(['init', '--project', 'demo', '--json'])
  expect(init).toMatchObject({
    code: 0,
    json: { root: rig.root, project: 'demo', files: 2, bytes: 6, skipped: [] },
  })
  // Standing in a folder below, and with -C from elsewhere, it is the same workspace.
  const begin = rig.run(
    ['begin', '--session', 'S', '--turn', 'k', '--agent', 'test', '--prompt', '-', '--json'],
    {
      cwd: rig.at('sub'),
      input: 'from standard input',
    },
  )
  expect(begin.json).toEqual({
    turn: TURN,
    number: 1,
    session: 'S',
    partial: false,
    lateStart: false,
    notRestorable: [],
    interruptedRestore: null,
    statted: expect.any(Number),
    hashed: expect.any(Number),
    durationMs: expect.any(Number),
  })
  rig.write('a.txt', 'new\n')
  rig.write('c.txt', 'c\n')
  const end = rig.run(['-C', rig.at('sub'), 'end', '--session', 'S', '--json'], { cwd: rig.top })
  expect(end.json).toMatchObject({ number: 1, entries: 2, created: 1, changed: 1, deleted: 0, skipped: 0 })

  const id = String(begin.json.turn)
  const log = rig.run(['log', '--json']).json
  expect(log).toEqual({
    turns: [
      {
        turn: id,
        number: 1,
        kind: 'agent',
        session: 'S',
        agent: 'test',
        prompt: 'from standard input',
        label: null,
        startedAt: expect.any(String),
        endedAt: expect.any(String),
        endReason: 'completed',
        created: 1,
        changed: 1,
        deleted: 0,
        skipped: 0,
        undone: 'no',
        pinned: false,
      },
    ],
  })
  for (const name of [id, id.slice(0, 12), '1', '@1', 'last']) {
    expect(rig.run(['show', name, '--json']).json).toMatchObject({
      format: 'turnback.turn/1',
      turn: id,
      seq: 1,
    })
  }
  expect(rig.run(['show', 'last']).stdout.split('\n').slice(1, 4)).toEqual([
    'from standard input',
    'M a.txt (unknown)',
    'A c.txt (unknown)',
  ])
  expect(rig.run(['show', 'last']).stdout).toMatch(/^@1 {2}t_\w+ {2}agent {2}test {2}\S+Z {2}completed$/m)
  expect(rig.run(['cat', 'last', '../a.txt', '--before'], { cwd: rig.at('sub') }).stdout).toBe('old\n')
  expect(rig.run(['cat', 'last', rig.at('a.txt')]).stdout).toBe('new\n')
  expect(rig.run(['log', '--path', 'sub', '--json']).json).toEqual({ turns: [] })
  expect(rig.run(['log', '--path', '.', '--json']).json).toMatchObject({ turns: [{ turn: id }] })
  expect(rig.run(['status', '--json']).json).toMatchObject({
    openTurns: [],
    unpushed: 1,
    setAside: [],
    connected: false,
    interruptedRestore: null,
    disk: { bytes: expect.any(Number), budget: expect.any(Number) },
  })
  const nothing = { missing: [], corrupt: [], packs: [], log: [], affected: [] }
  expect(rig.run(['verify', '--json']).json).toEqual({ blobs: 4, bytes: 12, ...nothing })
})

test('errors are one object with a code, and the exit code says what kind they are', () => {
  rig.write('a', 'x')
  const fails = (args: string[], exit: number, code: string, cwd = rig.root) => {
    const { code: status, stdout, stderr } = rig.run([...args, '--json'], { cwd })
    expect({ args, status, error: JSON.parse(stdout).error?.code }).toEqual({
      args,
      status: exit,
      error: code,
    })
    expect(Object.keys(JSON.parse(stdout))).toEqual(['error'])
    expect(Object.keys(JSON.parse(stdout).error)).toEqual(['code', 'message', 'details'])
    expect(stderr).toBe('')
  }
  fails(['status', 'extra', 'words'], 2, 'USAGE')
  fails(['nonsense'], 2, 'USAGE')
  fails(['begin'], 2, 'USAGE')
  fails(['-C', '/nowhere/at/all', 'status'], 2, 'USAGE')
  fails(['log'], 1, 'NO_WORKSPACE')
  fails(['end', '--session', 's'], 1, 'NO_WORKSPACE')
  rig.run(['begin', '--session', 's', '--json'])
  fails(['end', '--session', 'other'], 1, 'NO_OPEN_TURN')
  fails(['end', '--session', 's', '--reason', 'bored'], 2, 'USAGE')
  fails(['show', '99'], 1, 'TURN_NOT_FOUND')
  rig.run(['end', '--session', 's', '--json'])
  rig.run(['checkpoint', '--json'])
  fails(['show', 't_'], 2, 'TURN_AMBIGUOUS')
  fails(['cat', 'last', 'a'], 1, 'PATH_NOT_FOUND')
  fails(['log', '--path', '../elsewhere'], 2, 'OUTSIDE_ROOT')
  fails(['verify', '--subset', '3/2'], 2, 'USAGE')
})

test('`/`, the home folder and our own store are refused as roots, also through a link', () => {
  const refused = (cwd: string) => rig.run(['begin', '--session', 's', '--json'], { cwd })
  symlinkSync(String(rig.env.HOME), join(rig.top, 'to-home'))
  rig.run(['status'])
  const store = join(rig.top, 'home', 'store')
  for (const cwd of ['/', String(rig.env.HOME), join(rig.top, 'to-home'), store, join(store, 'packs')]) {
    expect(refused(cwd)).toMatchObject({ code: 3, json: { error: { code: 'ROOT_REFUSED' } } })
  }
  // The home folder may be a repository; a project in it is a workspace by itself.
  execFileSync('git', ['init', '-q', String(rig.env.HOME)])
  mkdirSync(join(String(rig.env.HOME), 'project'))
  expect(refused(join(String(rig.env.HOME), 'project'))).toMatchObject({ code: 0 })
})

test('the root is git’s top level; without git the folder itself', () => {
  execFileSync('git', ['init', '-q', rig.root])
  mkdirSync(rig.at('deep/er'), { recursive: true })
  expect(rig.run(['init', '--json'], { cwd: rig.at('deep/er') }).json).toMatchObject({ root: rig.root })
  const bare = join(rig.top, 'bare')
  mkdirSync(join(bare, 'sub'), { recursive: true })
  expect(rig.run(['init', '--json'], { cwd: join(bare, 'sub') }).json).toMatchObject({
    root: join(bare, 'sub'),
  })
})

test('an absolute path may lead to the root through a link; below the root links are names', () => {
  rig.write('sub/a.txt', 'old\n')
  symlinkSync('sub', rig.at('inner'))
  symlinkSync(rig.root, join(rig.top, 'way'))
  symlinkSync(rig.at('sub'), join(rig.top, 'deep'))
  const through = (...parts: string[]): string => join(rig.top, ...parts)
  rig.run(['begin', '--session', 'S', '--turn', 'k'])
  const event = ['event', '--session', 'S', '--turn', 'k', '--type', 'tool.after', '--tool', 'Edit', '--path']
  rig.run([...event, through('way', 'sub', 'a.txt')])
  rig.write('sub/a.txt', 'new\n')
  rig.run(['end', '--session', 'S', '--turn', 'k'])
  expect(rig.run(['show', 'last', '--json']).json.entries).toMatchObject([
    { path: 'sub/a.txt', source: 'tool' },
  ])
  const count = (path: string): unknown => {
    const { code, json } = rig.run(['log', '--path', path, '--json'])
    return code === 0 ? Array.isArray(json.turns) && json.turns.length : code
  }
  expect(count(through('way'))).toBe(1)
  expect(count(through('way', 'sub', 'a.txt'))).toBe(1)
  expect(count(through('deep', 'a.txt'))).toBe(1)
  expect(count(through('way', 'gone'))).toBe(0)
  expect(count(through('way', 'inner', 'a.txt'))).toBe(0)
  expect(count(through('elsewhere'))).toBe(2)
  expect(count(through('way', '..', 'elsewhere'))).toBe(2)
})

test('help is no error, and a line without a command is', () => {
  const help = rig.run(['--help'])
  expect(help.code).toBe(0)
  for (const name of ['init', 'begin', 'end', 'log', 'show', 'cat', 'checkpoint'])
    expect(help.stdout).toContain(name)
  expect(rig.run(['begin', '--help']).stdout).toContain('--session')
  expect(rig.run([]).code).toBe(2)
  expect(rig.run(['--json'])).toMatchObject({
    code: 2,
    json: { error: { code: 'USAGE', message: 'No command was given.' } },
  })
})

test('the version is printed, and a session without a name is wrong usage that begins nothing', () => {
  expect(rig.run(['--version'])).toMatchObject({ code: 0, stdout: `${CLIENT_VERSION}\n`, stderr: '' })
  const nameless = {
    code: 2,
    json: { error: { code: 'USAGE', message: expect.stringContaining('--session') } },
  }
  expect(rig.run(['begin', '--session', '', '--json'])).toMatchObject(nameless)
  expect(rig.run(['event', '--session=', '--type', 'turn.start', '--json'])).toMatchObject(nameless)
  expect(rig.run(['end', '--session', '', '--json'])).toMatchObject(nameless)
  expect(rig.deps.log.listWorkspaces()).toEqual([])
})

test('git’s facts are read from its files: unborn, on a branch, packed, detached, in a worktree, under way', () => {
  const git = (...args: string[]) =>
    execFileSync(
      'git',
      ['-C', rig.root, '-c', 'user.name=t', '-c', 'user.email=t@example.invalid', ...args],
      {
        encoding: 'utf8',
      },
    ).trim()
  const facts = (cwd = rig.root) => {
    rig.run(['begin', '--session', 's', '--json'], { cwd })
    rig.run(['end', '--session', 's', '--json'], { cwd })
    return rig.run(['show', 'last', '--json'], { cwd }).json.git
  }
  execFileSync('git', ['init', '-q', '-b', 'main', rig.root])
  expect(facts()).toEqual({ headBefore: null, headAfter: null, branch: 'main', operation: null })
  git('commit', '-q', '--allow-empty', '-m', 'one')
  const head = git('rev-parse', 'HEAD')
  expect(facts()).toEqual({ headBefore: head, headAfter: head, branch: 'main', operation: null })
  git('pack-refs', '--all')
  expect(facts()).toMatchObject({ headAfter: head })
  git('checkout', '-q', '--detach')
  rig.write('.git/MERGE_HEAD', `${head}\n`)
  expect(facts()).toEqual({ headBefore: head, headAfter: head, branch: null, operation: 'merge' })
  const linked = join(rig.top, 'linked')
  git('worktree', 'add', '-q', '-b', 'side/branch', linked)
  expect(facts(linked)).toEqual({ headBefore: head, headAfter: head, branch: 'side/branch', operation: null })
})
