import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { makeId } from '@turnback/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { runCommandLine } from '#cli/run.ts'
import { CaptureRig } from './support/capture-rig.ts'

let rig: CaptureRig
beforeEach(() => {
  rig = new CaptureRig('former')
})
afterEach(() => rig.dispose())

async function run(...args: string[]): Promise<{ out: string; words: string }> {
  let [out, words] = ['', '']
  const streams = {
    out(text: string | Uint8Array) {
      out += Buffer.from(text).toString('utf8')
    },
    talk(text: string) {
      words += text
    },
    readStdin: async () => '',
  }
  const caller = { env: rig.env, folder: rig.root, pid: process.pid, isPerson: false }
  expect(await runCommandLine(args, caller, streams)).toBe(0)
  return { out, words }
}

const former = async () => JSON.parse((await run('status', '--json')).out).formerHistories

async function record(): Promise<void> {
  await rig.init()
  await rig.turn(() => rig.write('a', 'by a turn'))
  rig.reopen()
}

test('after a folder was renamed, `status` and the first `begin` say where its history is, and how to have it back', async () => {
  const before = rig.root
  await record()
  expect(await former()).toEqual([])
  rig.root = join(rig.top, 'it’s renamed')
  renameSync(before, rig.root)
  mkdirSync(rig.at('sub'))
  const move = `mv '${rig.root}' ${before}`
  const status = (await run('status')).out
  expect(status).toContain('not in a workspace; `turnback init` makes this folder one')
  expect(status).toContain(`this folder was ${before} when a turn was recorded in it`)
  expect(status).toContain(move)
  expect(await former()).toEqual([
    { workspace: expect.stringMatching(/^w_/), why: 'moved', root: before, now: rig.root, turns: 1 },
  ])
  expect((await run('begin', '--session', 's')).words).toContain(move)
  // Said once; `status` goes on saying it.
  expect(await run('begin', '--session', 's')).toMatchObject({ words: '' })
  expect(await former()).toHaveLength(1)
  renameSync(rig.root, before)
  const renamed = rig.root
  rig.root = before
  // What was begun meanwhile is the history of a moved folder now.
  expect(await former()).toMatchObject([{ why: 'moved', root: renamed, now: before }])
  expect((await run('log')).out).toContain('@1')
})

test('a folder that was put in the place of another one is told from it', async () => {
  await record()
  renameSync(rig.root, join(rig.top, 'away'))
  mkdirSync(rig.root)
  expect(await former()).toMatchObject([{ why: 'replaced', root: rig.root, now: rig.root, turns: 1 }])
  const { words } = await run('begin', '--session', 's')
  expect(words).toContain(`another folder was at ${rig.root} when a turn was recorded there`)
})

test('a new folder that was given the number of a removed one is not taken for it', async () => {
  await record()
  const [known] = rig.deps.log.listWorkspaces()
  rig.reopen()
  rmSync(rig.root, { recursive: true })
  // Some file systems give the number again at once; where not, there is nothing to be taken for.
  rig.root = join(rig.top, 'new')
  mkdirSync(rig.root)
  expect(known).toBeDefined()
  expect(await former()).toEqual([])
})

test('`begin` says that a restore was cut off', async () => {
  await record()
  const restore = makeId('r', Date.now(), new Uint8Array(10))
  const [workspace] = rig.deps.log.listWorkspaces()
  if (workspace === undefined) throw new Error('registered above')
  const begun = async () => JSON.parse((await run('begin', '--session', 's', '--json')).out)
  expect(await begun()).toMatchObject({ interruptedRestore: null })
  rig.deps.log.putJournal({
    workspace: workspace.id,
    restore,
    plan: '{}',
    startedAt: new Date().toISOString(),
  })
  rig.reopen()
  expect(await begun()).toMatchObject({ interruptedRestore: restore })
  expect((await run('begin', '--session', 's')).out).toContain('`turnback recover` finishes it')
})
