import { symlinkSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { previewSchema, restoreReportSchema } from '@turnback/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CaptureRig } from './support/capture-rig.ts'
import { runHere } from './support/command-here.ts'

let rig: CaptureRig
beforeEach(() => {
  rig = new CaptureRig('irreversible')
  rig.write('a.txt', 'v1')
})
afterEach(() => rig.dispose())

const json = async (...args: string[]): Promise<Record<string, unknown>> =>
  (await runHere(rig.env, rig.root, args)).json
const tell = (type: string, ...more: string[]) =>
  json('event', '--session', 'A', '--turn', 'k', '--type', type, '--tool', 'T', ...more)

test('what commands did beyond the files, and what tools wrote outside or through links, is told before and after', async () => {
  writeFileSync(join(rig.top, 'elsewhere.txt'), 'theirs')
  symlinkSync('../elsewhere.txt', rig.at('link'))
  symlinkSync('a.txt', rig.at('inside-link'))
  await json('begin', '--session', 'A', '--turn', 'k')
  const command = 'npm test && git push origin main'
  await tell('tool.before', '--command', command)
  await tell('tool.after', '--command', command)
  await tell('tool.before', '--command', 'npx prisma migrate deploy --schema s3cret')
  await tell('tool.after', '--path', 'a.txt', '--path', 'inside-link', '--path', '../other/new.txt')
  await tell('tool.after', '--path', 'link', '--path', join(homedir(), 'notes.txt'))
  rig.write('a.txt', 'agent')
  await json('end', '--session', 'A', '--turn', 'k')
  const told = [
    'git push',
    'prisma migrate (begun; nobody heard how it ended)',
    'wrote ~/notes.txt, outside the workspace',
    `wrote ${join(rig.top, 'elsewhere.txt')} through the link link`,
    `wrote ${join(rig.top, 'other/new.txt')}, outside the workspace`,
  ]
  const preview = previewSchema.parse(await json('preview', 'last'))
  expect(preview.irreversible.toSorted()).toEqual(told.toSorted())
  const report = restoreReportSchema.parse(await json('undo'))
  expect(report).toMatchObject({ status: 'done', restored: ['a.txt'], irreversible: preview.irreversible })
})

test('a turn that did nothing of the kind has nothing to tell', async () => {
  await json('begin', '--session', 'A', '--turn', 'k')
  await tell('tool.before', '--command', 'git status; npm test')
  await tell('tool.after', '--command', 'git status; npm test', '--path', 'a.txt')
  rig.write('a.txt', 'agent')
  await json('end', '--session', 'A', '--turn', 'k')
  expect(await json('preview', 'last')).toMatchObject({ restore: ['a.txt'], irreversible: [] })
})
