import { afterEach, beforeEach, expect, test } from 'vitest'
import { CaptureRig } from './support/capture-rig.ts'
import { runHere } from './support/command-here.ts'

let rig: CaptureRig
beforeEach(async () => {
  rig = new CaptureRig('open-turn')
  rig.write('a.txt', 'one\n')
  await json('begin', '--session', 'A')
})
afterEach(() => rig.dispose())

const json = async (...args: string[]) => (await runHere(rig.env, rig.root, args)).json
const text = (base64: unknown): string => Buffer.from(String(base64), 'base64').toString('utf8')

test('an open turn is told the same way by show, diff, cat and preview, whichever is asked first', async () => {
  const asked = {
    show: async () => {
      const { entries, open, endedAt, seq, number } = await json('show', 'last')
      expect({ open, endedAt, seq, number }).toEqual({ open: true, endedAt: null, seq: null, number: 1 })
      return paths(entries)
    },
    diff: async () => paths((await json('diff', 'last')).files),
    cat: async () => {
      const [before, after] = [
        await json('cat', 'last', 'a.txt', '--before'),
        await json('cat', 'last', 'a.txt'),
      ]
      expect([text(before.base64), text(after.base64)]).toEqual(['one\n', `round ${round}\n`])
      return ['a.txt', `b${round}.txt`]
    },
    preview: async () => {
      const { restore, delete: gone } = await json('preview', 'last')
      return [...(restore as string[]), ...(gone as string[]).filter((path) => path === `b${round}.txt`)]
    },
  }
  let round = 0
  const order = Object.keys(asked) as (keyof typeof asked)[]
  for (const first of order) {
    round++
    rig.write('a.txt', `round ${round}\n`)
    rig.write(`b${round}.txt`, 'new\n')
    for (const each of [first, ...order]) {
      const told = (await asked[each]()).filter((path) => path === 'a.txt' || path === `b${round}.txt`)
      expect(told, `${each} in round ${round}`).toEqual(['a.txt', `b${round}.txt`])
    }
  }
  await json('end', '--session', 'A')
  const closed = await json('show', 'last')
  expect(closed).not.toHaveProperty('open')
  expect(paths(closed.entries)).toEqual(['a.txt', 'b1.txt', 'b2.txt', 'b3.txt', 'b4.txt'])
})

test('from one end to another, of which one is open', async () => {
  rig.write('a.txt', 'two\n')
  await json('end', '--session', 'A')
  await json('begin', '--session', 'A')
  rig.write('c.txt', 'new\n')
  expect(paths((await json('diff', '1', '2')).files)).toEqual(['c.txt'])
})

function paths(list: unknown): string[] {
  return (list as { path: string }[]).map(({ path }) => path)
}
