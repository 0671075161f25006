import { Readable, Writable } from 'node:stream'
import { expect, test } from 'vitest'
import { relay } from './relay.ts'

const reading = { wanted: { id: 'value' }, stringBytes: 100, onMessage: () => null } as const

/** Takes pieces when it is told to. */
function makeReader() {
  const got: Buffer[] = []
  const waiting: (() => void)[] = []
  let isOpen = true
  const stream = new Writable({
    highWaterMark: 1,
    write(piece: Buffer, _, done) {
      got.push(piece)
      if (isOpen) done()
      else waiting.push(done)
    },
  })
  return {
    stream,
    text: () => Buffer.concat(got).toString(),
    stop: () => {
      isOpen = false
    },
    goOn: () => {
      isOpen = true
      for (const done of waiting.splice(0)) done()
    },
  }
}

const turnOfLoop = () => new Promise((done) => setImmediate(done))

test('whoever reads slowly is waited for', async () => {
  const reader = makeReader()
  let given = 0
  const from = Readable.from(
    (function* () {
      for (; given < 1000; given++) yield Buffer.from(`{"id":${given}}\n`)
    })(),
  )
  reader.stop()
  const done = relay(from, reader.stream, reading)
  for (let i = 0; i < 20; i++) await turnOfLoop()
  expect(given).toBeLessThan(50)
  reader.goOn()
  await done
  expect(reader.text().split('\n')).toHaveLength(1001)
})

test('a message that is waited for is passed on but for its end; what follows comes after', async () => {
  const reader = makeReader()
  const waits = Promise.withResolvers<void>()
  const seen: unknown[] = []
  const onMessage = (outline: unknown): Promise<void> | null => {
    seen.push(outline)
    return seen.length === 1 ? waits.promise : null
  }
  const from = Readable.from([Buffer.from('{"id":1,"x":'), Buffer.from('2}\n{"id":2}\n')])
  const done = relay(from, reader.stream, { ...reading, onMessage })
  for (let i = 0; i < 20; i++) await turnOfLoop()
  expect([reader.text(), seen]).toEqual(['{"id":1,"x":2}', [{ id: 1 }]])
  waits.resolve()
  await done
  expect([reader.text(), seen]).toEqual(['{"id":1,"x":2}\n{"id":2}\n', [{ id: 1 }, { id: 2 }]])
})

test('one that is gone ends it', async () => {
  const reader = makeReader()
  reader.stop()
  const from = new Readable({ read: () => undefined })
  const done = relay(from, reader.stream, reading)
  from.push('{"id":1}\n')
  await turnOfLoop()
  reader.stream.destroy()
  await done
})
