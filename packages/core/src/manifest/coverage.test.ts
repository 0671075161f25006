import { expect, test } from 'vitest'
import { coverageSchema } from './manifest.ts'

/** As it stands in envelopes that are signed and sent: letter by letter, fields in this order. */
const WRITTEN =
  '{"complete":false,"reason":"1 file(s) were not read in the time given","files":3,' +
  '"changes":{"tool":1,"shell":2,"unknown":0,"shared":0,"outside":0},' +
  '"skipped":{"excluded-directory":1,"budget":1},' +
  '"notRestorable":[{"reason":"changed-before-start","count":2,"paths":["a","b"]},{"reason":"budget","count":1,"paths":["c"]}]}'
const OLDER = '{"complete":true,"reason":null,"files":3}'

test('coverage is read as it is written, by older clients too', () => {
  for (const text of [WRITTEN, OLDER])
    expect(JSON.stringify(coverageSchema.parse(JSON.parse(text)))).toBe(text)
})

test('a source or a reason that is not known is refused, and so is one that is left out', () => {
  const written = JSON.parse(WRITTEN)
  const wrong = [
    { ...written, more: 1 },
    { ...written, changes: { tool: 1 } },
    { ...written, changes: { ...written.changes, person: 1 } },
    { ...written, skipped: { forgotten: 1 } },
    { ...written, notRestorable: [{ reason: 'outside', count: 1, paths: [] }] },
    { ...written, notRestorable: [{ reason: 'budget', count: 0, paths: [] }] },
    { ...written, notRestorable: [{ reason: 'budget', count: 1, paths: ['../up'] }] },
  ]
  for (const each of wrong) expect(coverageSchema.safeParse(each).success).toBe(false)
})
