import { readFileSync } from 'node:fs'
import { isSealed, type MachineId, writeFrameHeader } from '@turnback/core'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { expect, test } from 'vitest'
import { makeIdentity } from '#crypto/identity.ts'
import { plainId, sealedId } from '#crypto/sealed-id.ts'
import { lockBytes, unlockBytes } from '#crypto/vault.ts'
import { makeFrame, openFrame } from '#store/pack-frame.ts'

const key = (byte: number) => new Uint8Array(32).fill(byte)
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const golden: Record<string, string> = JSON.parse(
  readFileSync(new URL('./golden/formats.json', import.meta.url), 'utf8'),
)

const CONTENT = Buffer.from('DATABASE_URL=postgres://localhost/app\n')
const MACHINE: MachineId = 'm_01jcz0000000000000000000zz'

/** What is on disks and servers already, byte for byte: a change here makes old stores unreadable. */
test('names, frames, envelopes and keys are written as they always were', () => {
  const sealed = sealedId(key(1), CONTENT)
  const locked = lockBytes(key(2), sealed, CONTENT, Buffer.alloc(12, 3))
  const header = writeFrameHeader({
    id: sealed,
    codec: 'vault',
    sizeBytes: CONTENT.length,
    storedBytes: locked.length,
  })
  const plain = makeFrame(plainId(CONTENT), CONTENT, () => key(2))
  const identity = makeIdentity({ machine: MACHINE, signing: key(4), sealing: key(5) })
  expect({
    plainId: plainId(CONTENT),
    sealedId: sealed,
    vaultFrame: hex(Buffer.concat([header, locked])),
    rawFrame: hex(Buffer.concat([plain.header, plain.body])),
    publicKey: identity.publicKey,
    ageIdentity: identity.ageIdentity,
    ageRecipient: identity.ageRecipient,
    envelope: hex(identity.signEnvelope('turn', Buffer.from('{"format":"turnback.turn/1"}'))),
  }).toEqual(golden)
})

test('sealed bytes open only under their key and their name', () => {
  const id = sealedId(key(1), CONTENT)
  expect(isSealed(id)).toBe(true)
  const locked = lockBytes(key(2), id, CONTENT)
  expect(unlockBytes(key(2), id, locked)).toEqual(CONTENT)
  expect(unlockBytes(key(3), id, locked)).toBeNull()
  expect(unlockBytes(key(2), sealedId(key(1), Buffer.from('other')), locked)).toBeNull()
  for (const at of [0, 15, locked.length - 1]) {
    const flipped = Buffer.from(locked)
    flipped[at] = (flipped[at] ?? 0) ^ 1
    expect(unlockBytes(key(2), id, flipped)).toBeNull()
  }
  expect(unlockBytes(key(2), id, locked.subarray(0, 27))).toBeNull()
})

test('frames give their bytes back: empty, small, repetitive, random', () => {
  const storeKey = () => key(2)
  for (const content of [Buffer.alloc(0), Buffer.from('x'), Buffer.alloc(100_000, 7), Buffer.from(key(9))]) {
    for (const id of [plainId(content), sealedId(key(1), content)]) {
      const { body, blobs } = makeFrame(id, content, storeKey)
      const codec = blobs[0]?.codec ?? 'raw'
      expect(Buffer.from(openFrame(id, codec, body, content.length, storeKey))).toEqual(content)
    }
  }
  // A zstd frame that unpacks to more than its header says is refused before it fills the memory.
  const bomb = makeFrame(plainId(Buffer.alloc(1_000_000)), Buffer.alloc(1_000_000), storeKey)
  expect(() => openFrame(plainId(CONTENT), 'zstd', bomb.body, 100, storeKey)).toThrow(/do not fit/)
})

test('our age keys are those of age itself', async () => {
  const theirs = await generateX25519Identity()
  expect(theirs).toMatch(/^AGE-SECRET-KEY-1/)
  const ours = makeIdentity({ machine: MACHINE, signing: key(4), sealing: key(5) })
  expect(await identityToRecipient(ours.ageIdentity)).toBe(ours.ageRecipient)
})
