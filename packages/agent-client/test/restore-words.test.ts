import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { runCommandLine } from '#cli/run.ts'
import { CaptureRig } from './support/capture-rig.ts'

let rig: CaptureRig
beforeEach(async () => {
  rig = new CaptureRig('words')
  rig.write('a.txt', 'one\ntwo\n')
  await say('init')
})
afterEach(() => rig.dispose())

/** What a person reads: both streams. */
async function say(...args: string[]): Promise<{ code: number; text: string }> {
  let text = ''
  const take = (part: string | Uint8Array): void => {
    text += Buffer.from(part).toString('utf8')
  }
  const streams = { out: take, talk: take, readStdin: async () => '' }
  const caller = { env: rig.env, folder: rig.root, pid: process.pid, isPerson: false }
  const code = await runCommandLine(args, caller, streams, null)
  return { code, text }
}

async function turn(work: () => void, session = 'A'): Promise<void> {
  await say('begin', '--session', session)
  work()
  await say('end', '--session', session)
}

const withoutIds = (text: string): string =>
  text.replaceAll(/\b([tr])_[0-9a-z]{26}\b/g, '$1_…').replaceAll(/\b[0-9a-f]{64}\b/g, 'TOKEN')
const read = async (...args: string[]): Promise<string[]> =>
  withoutIds((await say(...args)).text)
    .trimEnd()
    .split('\n')

describe('nothing to do is told with why, and what there is instead', () => {
  test('a turn that changed nothing', async () => {
    await turn(() => {})
    expect(await read('undo')).toEqual([
      'Nothing to do: @1 changed no file that could be given back; it counts as undone now.',
      'The next `turnback undo` takes the turn before.',
    ])
  })

  test('no turn at all, none in the session, all undone', async () => {
    expect(await read('undo')).toEqual([
      'Nothing to undo: no turn of an agent was recorded here yet. `turnback log` lists what was.',
    ])
    await turn(() => rig.write('a.txt', 'agent'))
    expect(await read('undo', '--session', 'B')).toEqual([
      'Nothing to undo: no turn of an agent was recorded in session B yet. `turnback log` lists what was.',
    ])
    await say('undo')
    expect(await read('undo')).toEqual([
      'Nothing to undo: every turn of an agent here is undone already. `turnback redo` brings the last back.',
    ])
  })

  test('redo with nothing to redo makes no turn; with one that a later turn cut off, that one is named', async () => {
    expect(await read('redo')).toEqual([
      'Nothing to redo: no undo or restore is left that could be taken back.',
    ])
    await turn(() => rig.write('a.txt', 'agent'))
    await say('undo')
    await turn(() => rig.write('b.txt', 'agent'))
    const log = (await say('log')).text
    expect(await read('redo')).toEqual([
      'Nothing to redo: a turn came after @2, the last undo or restore, and changed files.',
      'It can still be taken back by name: `turnback restore t_…`.',
    ])
    expect((await say('log')).text).toBe(log)
  })

  test('a path that none of the turns changed; a restore that keeps everything', async () => {
    await turn(() => rig.write('a.txt', 'agent'))
    expect(await read('restore', 'last', '--path', 'none')).toEqual([
      'Nothing to do: none of the turns in question changed what you named.',
    ])
    rig.write('a.txt', 'mine')
    expect(await read('restore', 'last')).toEqual([
      'kept          a.txt: changed after the turn (by hand or another program: @3)',
      'Nothing was given back: every path stays as it is, for the reason that stands beside it.',
      'To replace what was kept as well: `turnback restore @1 --on-conflict save` (what is there now stays in the log), or `merge` to join both.',
    ])
  })
})

describe('conflicts', () => {
  test('are told by their reasons in words, with whose change it is, and with the command that goes on', async () => {
    for (const name of ['hand', 'kind', 'theirs']) rig.write(name, 'v1\n')
    rig.write('ends', 'v1\nv1\n')
    await turn(() => {
      for (const name of ['a.txt', 'hand', 'kind', 'theirs']) rig.write(name, 'agent\n')
      rig.write('ends', 'a\nb\n')
    })
    await turn(() => rig.write('theirs', 'B\n'), 'B')
    rig.write('hand', 'mine\n')
    rig.write('ends', 'a\r\nb\r\n')
    rmSync(rig.at('kind'))
    symlinkSync('a.txt', rig.at('kind'))
    expect(await read('undo', '--session', 'A')).toEqual([
      'restored      a.txt',
      'kept          ends: only its line endings changed since (by hand or another program: @4)',
      'kept          hand: changed after the turn (by hand or another program: @4)',
      'kept          kind: is now another kind of thing (file, link or folder) (by hand or another program: @4)',
      'kept          theirs: last written by another session (by @3 of session B)',
      'Done: @2 undone: 1 restored, 4 kept; every file was read back.',
      'To replace what was kept as well: `turnback restore @2 --on-conflict save` (what is there now stays in the log), or `merge` to join both.',
      'To undo the other sessions’ work too: `turnback restore @2 --all-sessions`.',
      'Take this back: `turnback redo` (later, when it is no longer the latest: `turnback restore t_…`).',
    ])
  })

  test('with fail: what is in the way, once, and what to choose', async () => {
    await turn(() => rig.write('a.txt', 'agent'))
    rig.write('a.txt', 'mine')
    expect(await read('restore', 'last', '--on-conflict', 'fail')).toEqual([
      'in the way    a.txt: changed after the turn (by hand or another program: @2)',
      'Refused: Some files were changed since and you asked to fail then; nothing was done. (CONFLICTS)',
      'Choose --on-conflict keep, save or merge.',
    ])
  })
})

test('a preview ends with the command that does exactly it, as a shell takes it', async () => {
  await turn(() => {
    rig.write('a.txt', 'agent')
    rig.write("it's $x", 'new')
  })
  expect(await read('preview', 'last', '--path', "it's $x", '--on-conflict', 'save')).toEqual([
    "would delete  it's $x",
    '1 to delete; undoes @1.',
    "To do exactly this, within ten minutes: `turnback restore 1 --path 'it'\\''s $x' --on-conflict save --token TOKEN`.",
  ])
  expect(await read('undo', '--dry-run')).toEqual([
    'would restore a.txt',
    "would delete  it's $x",
    'Nothing was done: this is what would be.',
  ])
})

test('a stale token names what changed', async () => {
  await turn(() => rig.write('a.txt', 'agent'))
  const token = /--token (\w+)/.exec((await say('preview', 'last')).text)?.[1] ?? ''
  rig.write('a.txt', 'mine')
  const refused = [
    'Refused: Something changed since the preview, so nothing was done. (TOKEN_STALE)',
    'Look at a new preview and confirm that one.',
  ]
  expect(await read('restore', 'last', '--token', token)).toEqual(['changed       a.txt', ...refused])
  rig.write('a.txt', 'agent')
  mkdirSync(rig.at('.git/refs/heads'), { recursive: true })
  writeFileSync(rig.at('.git/HEAD'), 'ref: refs/heads/other\n')
  expect(await read('restore', 'last', '--token', token)).toContain(
    'HEAD or its branch is another one than at the preview.',
  )
})

test('what is also undone is told before and after, and whose it was', async () => {
  await turn(() => rig.write('a.txt', 'agent 1'))
  rig.write('a.txt', 'mine')
  await turn(() => rig.write('a.txt', 'agent 2'))
  expect(await read('preview', '1')).toContain('also undoes   a.txt: changed by hand or another program: @2')
  const after = await read('restore', '1')
  expect(after).toContain('also undone   a.txt: changed by hand or another program: @2')
  expect(after).toContain('Done: @1 and @3 undone: 1 restored; every file was read back.')
  expect((await read('redo')).at(-1)).toBe('Take this back: `turnback restore t_…`.')
})

test('more names than anybody reads are counted', async () => {
  await turn(() => {
    for (let i = 0; i < 130; i++) writeFileSync(rig.at(`n${i}`), 'x')
  })
  const lines = await read('undo')
  expect(lines.filter((line) => line.startsWith('deleted')).length).toBe(101)
  expect(lines).toContain('deleted       and 30 more; --json names all')
})
