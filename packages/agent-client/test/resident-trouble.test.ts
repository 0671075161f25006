import { execFileSync, spawn } from 'node:child_process'
import {
  closeSync,
  constants,
  existsSync,
  openSync,
  readdirSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { CLIENT_VERSION } from '#client-version.ts'
import { PASSED_VARIABLES } from '#resident/request.ts'
import { ResidentRig, until } from './support/resident-rig.ts'

/** No caller may take longer than this for a command that a healthy one answers at once, on a machine however slow. */
const NEVER_MS = 30_000

let rig: ResidentRig

beforeAll(() => {
  rig = new ResidentRig()
})

afterEach(async () => {
  await rig.kill()
})

afterAll(() => rig.dispose())

/** A turn that can be undone, in a tree of its own. */
async function makeTurn(text: string): Promise<void> {
  await rig.json(['begin', '--session', 's'])
  writeFileSync(join(rig.tree, 'file'), text)
  await rig.json(['end', '--session', 's'])
}

async function restores(): Promise<number> {
  const { turns } = await rig.json(['log', '--kind', 'restore'])
  return Array.isArray(turns) ? turns.length : Number.NaN
}

const requestIn = (place: string) => () =>
  rig.listPlace().some((name) => name.endsWith('.request')) && existsSync(place)

test('the resident is killed: what is asked next is done without it, at once', async () => {
  await rig.connect()
  const { pid } = rig
  process.kill(pid, 'SIGKILL')
  await until(() => !existsSync(`/proc/${pid}`), 'it is gone')
  const begun = await rig.run(['begin', '--session', 's', '--json'])
  expect(begun.code).toBe(0)
  expect(rig.starts()).toHaveLength(1)
  // A new one cleans up, and serves.
  await rig.connect()
  expect((await rig.run(['end', '--session', 's'])).code).toBe(0)
  expect(rig.starts()).toEqual([])
})

test('stopped before it was asked: done without it, at once, and not a second time when it goes on', async () => {
  await rig.connect()
  await makeTurn('stopped')
  const before = await restores()
  process.kill(rig.pid, 'SIGSTOP')
  try {
    rig.starts()
    const undone = await rig.json(['undo'])
    expect(undone).toMatchObject({ status: 'done' })
    expect(rig.starts()).toHaveLength(1)
  } finally {
    process.kill(rig.pid, 'SIGCONT')
  }
  await makeTurn('after')
  expect(await restores()).toBe(before + 1)
})

test('asked, and it does not answer: the request is withdrawn, done without it, and never done by it', async () => {
  await rig.connect()
  await makeTurn('silent')
  const before = await restores()
  const { pid, place } = rig.pretend()
  rig.starts()
  const undone = await rig.run(['undo', '--json'])
  expect(JSON.parse(undone.stdout.toString())).toMatchObject({ status: 'done' })
  expect(undone.ms).toBeLessThan(NEVER_MS)
  const withdrawn = rig.listPlace().find((name) => name.endsWith('.withdrawn')) ?? ''
  expect(withdrawn).not.toBe('')
  // Others need not wait for it as well.
  expect(rig.listPlace()).toContain('slow')
  await rig.json(['begin', '--session', 'next'])
  await rig.json(['end', '--session', 'next'])
  expect(rig.starts()).toEqual(['main.js undo', 'quick.js begin', 'quick.js end'])
  expect(rig.listPlace().filter((name) => name.endsWith('.withdrawn'))).toEqual([withdrawn])
  process.kill(pid, 'SIGCONT')
  // It has rung by now that it is back, and has seen the ring from before.
  await until(() => !existsSync(join(place, 'slow')), 'it goes on')
  expect(await restores()).toBe(before + 1)

  // The control: what keeps it from being done twice is that the request is gone.
  await rig.run(['redo'])
  const id = withdrawn.replace('.withdrawn', '')
  renameSync(join(place, withdrawn), join(place, `${id}.request`))
  spawn('sh', ['-c', `exec 4<>'${place}/${id}.reply'; echo ${id} 1<>'${place}/bell'; read x <&4`], {
    stdio: 'ignore',
  })
  await until(() => !existsSync(join(place, `${id}.request`)), 'it takes it')
  await until(() => !existsSync(join(place, `${id}.taken`)), 'it has done it')
  expect(await restores()).toBe(before + 3)
}, 60_000)

test('taken, and it dies: an undo is not done again, and the caller hears what to do', async () => {
  await rig.connect()
  await makeTurn('taken')
  const before = await restores()
  const { pid, place, die } = rig.pretend()
  rig.starts()
  const undo = rig.run(['undo', '--json'])
  await until(requestIn(place), 'it is asked')
  takeAll(place)
  die()
  const { code, stderr, stdout, ms } = await undo
  expect(code).toBe(1)
  expect(stdout.toString()).toBe('')
  expect(stderr).toContain('turnback status')
  expect(stderr).toContain('turnback recover')
  expect(ms).toBeLessThan(NEVER_MS)
  expect(rig.starts()).toEqual([])
  process.kill(pid, 'SIGKILL')
  expect(await restores()).toBe(before)
})

test('taken, and it dies: a begin is done by the caller, because no turn may be missed', async () => {
  await rig.connect()
  const { pid, place, die } = rig.pretend()
  rig.starts()
  const begin = rig.run(['begin', '--session', 'kept', '--prompt', '-', '--json'], { input: 'a prompt' })
  await until(requestIn(place), 'it is asked')
  takeAll(place)
  die()
  const { code, stdout } = await begin
  expect(code).toBe(0)
  expect(rig.starts()).toEqual(['quick.js begin'])
  // Whoever took it would see that nobody waits any more.
  expect(readdirSync(place).filter((name) => /\.(?:taken|void)$/.test(name))).toEqual([
    expect.stringMatching(/\.void$/),
  ])
  process.kill(pid, 'SIGKILL')
  const { turn } = JSON.parse(stdout.toString())
  await rig.kill()
  await rig.json(['end', '--session', 'kept'])
  // What was piped in was read once, and is there all the same.
  expect(await rig.json(['show', turn])).toMatchObject({ prompt: 'a prompt' })
})

test('a long restore is waited for as long as the resident lives', async () => {
  await rig.connect()
  const { pid, place, die } = rig.pretend()
  const redo = rig.run(['redo', '--json'])
  let isOver = false
  redo.finally(() => (isOver = true)).catch(() => undefined)
  await until(requestIn(place), 'it is asked')
  takeAll(place)
  // Ticks of its clock, each of which is a chance to lose patience.
  await new Promise((go) => setTimeout(go, 3500))
  expect(isOver).toBe(false)
  die()
  expect((await redo).code).toBe(1)
  process.kill(pid, 'SIGKILL')
}, 60_000)

test('Ctrl-C before it was taken: 130, and nothing is done', async () => {
  await rig.connect()
  await makeTurn('interrupted')
  const before = await restores()
  const { pid, place } = rig.pretend()
  let caller = 0
  const undo = rig.run(['undo'], { started: (started) => (caller = started) })
  await until(requestIn(place), 'it is asked')
  // As a terminal does: to all of the caller's processes.
  process.kill(-caller, 'SIGINT')
  expect((await undo).code).toBe(130)
  process.kill(pid, 'SIGCONT')
  await until(() => rig.listPlace().every((name) => !name.endsWith('.request')), 'nothing waits')
  expect(await restores()).toBe(before)
})

test('Ctrl-C after it was taken: 130, and the work is brought to its end', async () => {
  await rig.connect()
  await makeTurn('interrupted later')
  const before = await restores()
  const { pid, place } = rig.pretend()
  let caller = 0
  const undo = rig.run(['undo'], { started: (started) => (caller = started) })
  await until(requestIn(place), 'it is asked')
  process.kill(pid, 'SIGCONT')
  await until(() => !requestIn(place)(), 'it is taken')
  process.kill(-caller, 'SIGINT')
  // The answer may have come first.
  expect([0, 130]).toContain((await undo).code)
  await until(() => rig.listPlace().every((name) => !name.endsWith('.taken')), 'it is done')
  expect(await restores()).toBe(before + 1)
})

test('a hook ends well and says nothing, with a resident and without, whatever it is given', async () => {
  await rig.connect()
  const silent = { code: 0, stderr: '' }
  const all = await Promise.all([
    rig.run(['hook', 'some-agent'], { input: '{"a":1}' }),
    rig.run(['hook', 'some-agent'], { isOpen: true }),
    rig.run(['hook', 'some-agent'], { isOpen: true, shell: ['bash'] }),
    rig.run(['hook'], { input: '' }),
    rig.run(['hook', 'some-agent', '--what'], { shell: ['sh', '-c', 'exec "$0" "$@" <&-'] }),
    rig.run(['hook', 'claude-code'], { isOpen: true }),
    rig.run(['hook', 'claude-code'], { shell: ['sh', '-c', 'exec "$0" "$@" <&-'] }),
    rig.run(['hook', 'claude-code'], { input: '{"session_id":"s","hook_event_name":' }),
    rig.run(['hook', 'codex', 'Stop'], { input: '\0\xff{}' }),
  ])
  for (const answer of all) {
    expect(answer).toMatchObject(silent)
    expect(answer.stdout.length).toBe(0)
    expect(answer.ms).toBeLessThan(NEVER_MS)
  }
  await rig.run(['disconnect'])
  expect(await rig.run(['hook', 'some-agent'], { isOpen: true })).toMatchObject(silent)
}, 60_000)

/** What an agent says of a file of so many bytes that it writes. */
function bigNews(bytes: number): string {
  const content = 'x'.repeat(bytes)
  const tool_input = { file_path: join(rig.tree, 'big.txt'), content }
  return JSON.stringify({
    ...{
      session_id: 'big',
      prompt_id: 'p',
      cwd: rig.tree,
      hook_event_name: 'PreToolUse',
      tool_name: 'Write',
    },
    tool_input,
  })
}

test.each(['resident', 'alone'])(
  'news of 50 MB is taken (%s), also without an end to the input',
  async (how) => {
    await rig.connect()
    if (how === 'alone') await rig.run(['disconnect'])
    const input = bigNews(50_000_000)
    expect(await rig.run(['hook', 'claude-code'], { input })).toMatchObject({ code: 0, stderr: '' })
    writeFileSync(join(rig.tree, 'big.txt'), how)
    // The agent never closes its end: what came until then is all there is.
    const small = bigNews(10)
    const open = await rig.run(['hook', 'claude-code'], { isOpen: true, input: small })
    expect(open).toMatchObject({ code: 0, stderr: '' })
    expect(open.ms).toBeLessThan(NEVER_MS)
    await rig.run(['end', '--session', 'big'])
    expect(await rig.json(['show', 'last'])).toMatchObject({ entries: [{ path: 'big.txt', source: 'tool' }] })
  },
  120_000,
)

test('trouble within one request is told to its caller and ends nothing else', async () => {
  await rig.connect()
  const { pid } = rig
  // A bell that is rung for nothing, for somebody else's file, and with nonsense.
  spawn('sh', ['-c', `printf '77777\\n../../x\\n\\n${'z'.repeat(5000)}\\n' 1<>'${rig.place}/bell'`])
  writeFileSync(join(rig.place, 'c1.request'), 'not a request')
  spawn('sh', ['-c', `echo c1 1<>'${rig.place}/bell'`])
  await until(() => !existsSync(join(rig.place, 'c1.request')), 'it is taken')
  rig.starts()
  expect(await rig.json(['begin', '--session', 'still'])).toMatchObject({ session: 'still' })
  expect(rig.starts()).toEqual([])
  expect(rig.pid).toBe(pid)
})

test('a caller that is there and reads nothing does not keep `disconnect` waiting', async () => {
  await rig.connect()
  const base = join(rig.place, 'c7')
  execFileSync('mkfifo', ['-m', '600', `${base}.reply`])
  const reply = openSync(`${base}.reply`, constants.O_RDWR | constants.O_NONBLOCK)
  try {
    expect(() => {
      for (;;) writeSync(reply, Buffer.alloc(4096))
    }).toThrow(expect.objectContaining({ code: 'EAGAIN' }))
    const variables = PASSED_VARIABLES.map((name) => (name in rig.env ? `${name}=${rig.env[name]}` : ''))
    const words = ['begin', '--session', 'stopped']
    const fields = ['1', CLIENT_VERSION, '1', '1', '', '0', '3', ...words, ...variables, `${rig.tree}\n`, '.']
    writeFileSync(`${base}.request`, fields.join('\0'))
    spawn('sh', ['-c', `echo c7 1<>'${rig.place}/bell'`])
    const isDone = async () => {
      const { openTurns } = await rig.json(['status'])
      return JSON.stringify(openTurns).includes('stopped')
    }
    while (!(await isDone()));
    expect(await rig.run(['disconnect'])).toMatchObject({ code: 0 })
  } finally {
    closeSync(reply)
  }
}, 60_000)

/** What the resident does first with a request. */
function takeAll(place: string): void {
  for (const name of rig.listPlace())
    if (name.endsWith('.request'))
      renameSync(join(place, name), join(place, name.replace('.request', '.taken')))
}
