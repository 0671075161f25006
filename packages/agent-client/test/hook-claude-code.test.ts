import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { golden } from './support/hook-scene.ts'
import { ResidentRig } from './support/resident-rig.ts'

let rig: ResidentRig
let tree: string
let round = 0

beforeAll(() => {
  rig = new ResidentRig()
})
afterAll(() => rig.dispose())

describe.each(['alone', 'by the resident'])('%s', (how) => {
  beforeAll(async () => {
    if (how !== 'alone') await rig.connect()
  })
  beforeEach(() => {
    tree = join(rig.top, `tree-${++round}`)
    mkdirSync(tree)
    writeFileSync(join(tree, 'kept.txt'), 'one\n')
    writeFileSync(join(tree, 'gone.txt'), 'gone\n')
    writeFileSync(join(tree, '.env'), 'KEY=1\n')
  })

  async function hook(name: string, changed: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const session = { session_id: `s${round}`, ...changed }
    const input = golden('claude-code', name, { tree, home: rig.top }, session)
    const { code, stdout, stderr } = await rig.run(['hook', 'claude-code'], { cwd: tree, input })
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    return stdout.toString()
  }

  const json = (...words: string[]) => rig.json(words, { cwd: tree })

  const contents = () =>
    Object.fromEntries(readdirSync(tree).map((name) => [name, readFileSync(join(tree, name), 'utf8')]))

  test('a whole turn: recorded with its labels, and undone byte for byte', async () => {
    const before = contents()
    await hook('session-start')
    await hook('prompt')
    await hook('write-before')
    writeFileSync(join(tree, 'made.txt'), 'made\n')
    await hook('write-after')
    await hook('edit-before')
    writeFileSync(join(tree, 'kept.txt'), 'two\n')
    await hook('edit-after')
    await hook('bash-before')
    rmSync(join(tree, 'gone.txt'))
    writeFileSync(join(tree, '.env'), 'KEY=2\n')
    await hook('bash-after')
    await hook('batch')
    await hook('stop')
    await hook('session-end')
    const manifest = await json('show', 'last')
    expect(manifest).toMatchObject({
      kind: 'agent',
      session: `s${round}`,
      agent: { name: 'claude-code' },
      prompt: 'Write made.txt, edit kept.txt and remove gone.txt',
      lastMessage: 'All three are done.',
      endReason: 'completed',
      lateStart: false,
      lateEnd: false,
    })
    const entries = manifest.entries
    if (!Array.isArray(entries)) throw new Error('no entries')
    expect(Object.fromEntries(entries.map(({ path, source }) => [path, source]))).toEqual({
      '.env': 'shell',
      'gone.txt': 'shell',
      'kept.txt': 'tool',
      'made.txt': 'tool',
    })
    expect(await json('undo')).toMatchObject({ status: 'done', verified: true })
    expect(contents()).toEqual(before)
  })
})
