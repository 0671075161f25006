import {
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
} from 'node:crypto'
import { DomainError } from '@turnback/core'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { describe, expect, it } from 'vitest'
import { openSealed, paddedSize, sealForPush } from './seal.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const SECRET = 'DATABASE_URL=postgres://app:hunter2-493817@db.internal/app\n'

async function pair() {
  const identity = await generateX25519Identity()
  return { identity, recipient: await identityToRecipient(identity) }
}

describe('sealing for push', () => {
  it.each([0, 1, 1015, 1016, 1017, 65_527, 65_528, 65_529, 200_000])(
    'gives %i bytes back',
    async (length) => {
      const { identity, recipient } = await pair()
      const content = Uint8Array.from({ length }, (_, i) => (i * 31 + 7) & 0xff)
      const file = await sealForPush([recipient], content)
      expect(Buffer.from(await openSealed(identity, file)).equals(Buffer.from(content))).toBe(true)
    },
  )

  it('tells the size only to the next step', () => {
    expect(paddedSize(0)).toBe(1024)
    expect(paddedSize(1016)).toBe(1024)
    expect(paddedSize(1017)).toBe(2048)
    expect(paddedSize(65_528)).toBe(65_536)
    expect(paddedSize(65_529)).toBe(131_072)
  })

  it('lets two contents of nearly one length look alike, and never repeats itself', async () => {
    const { recipient } = await pair()
    const short = await sealForPush([recipient], bytes('A=1'))
    const long = await sealForPush([recipient], bytes(SECRET))
    expect(short.length).toBe(long.length)
    expect(Buffer.from(await sealForPush([recipient], bytes('A=1'))).equals(Buffer.from(short))).toBe(false)
  })

  it('leaves nothing of the content to be read', async () => {
    const { recipient } = await pair()
    const file = Buffer.from(await sealForPush([recipient], bytes(SECRET)))
    expect(file.includes('hunter2')).toBe(false)
    expect(file.includes('DATABASE_URL')).toBe(false)
  })

  it('opens for each recipient and for nobody else', async () => {
    const [mine, team, stranger] = [await pair(), await pair(), await pair()]
    const file = await sealForPush([mine.recipient, team.recipient], bytes(SECRET))
    for (const { identity } of [mine, team]) {
      expect(Buffer.from(await openSealed(identity, file)).toString()).toBe(SECRET)
    }
    await expect(openSealed(stranger.identity, file)).rejects.toThrow(DomainError)
  })

  it('refuses a file with one flipped bit, wherever it is', async () => {
    const { identity, recipient } = await pair()
    const file = await sealForPush([recipient], bytes(SECRET))
    for (const at of [0, 30, 150, file.length - 1]) {
      const damaged = Uint8Array.from(file)
      damaged[at] = (damaged[at] ?? 0) ^ 1
      await expect(openSealed(identity, damaged)).rejects.toThrow(DomainError)
    }
  })

  it('is an age file by the published format, opened here without the library', async () => {
    const { publicKey, privateKey } = generateKeyPairSync('x25519')
    const recipient = await recipientOf(privateKey)
    const content = Uint8Array.from({ length: 150_000 }, (_, i) => (i * 13) & 0xff)
    const file = Buffer.from(await sealForPush([recipient], content))
    const payload = openByFormat(file, privateKey, publicKey)
    expect(payload.length).toBe(paddedSize(content.length))
    expect(Number(payload.readBigUInt64BE(0))).toBe(content.length)
    expect(payload.subarray(8, 8 + content.length).equals(Buffer.from(content))).toBe(true)
    expect(payload.subarray(8 + content.length).every((byte) => byte === 0)).toBe(true)
  })
})

async function recipientOf(privateKey: KeyObject): Promise<string> {
  const jwk = privateKey.export({ format: 'jwk' })
  const key = await crypto.subtle.importKey('jwk', jwk, { name: 'X25519' }, true, ['deriveBits'])
  return identityToRecipient(key)
}

/** The format of C2SP/age.md for one X25519 recipient, written down a second time. */
function openByFormat(file: Buffer, privateKey: KeyObject, publicKey: KeyObject): Buffer {
  const headerEnd = file.indexOf('\n--- ')
  const payloadAt = file.indexOf('\n', headerEnd + 1) + 1
  const lines = file.subarray(0, headerEnd).toString('latin1').split('\n')
  expect(lines[0]).toBe('age-encryption.org/v1')
  const [, shareText] = /^-> X25519 ([A-Za-z0-9+/]{43})$/.exec(lines[1] ?? '') ?? []
  const share = Buffer.from(shareText ?? '', 'base64')
  const own = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url')
  const theirs = createPublicKey({
    key: { kty: 'OKP', crv: 'X25519', x: share.toString('base64url') },
    format: 'jwk',
  })
  const agreed = diffieHellman({
    privateKey: createPrivateKey(privateKey.export({ format: 'pem', type: 'pkcs8' })),
    publicKey: theirs,
  })
  const wrapKey = derive(agreed, Buffer.concat([share, own]), 'age-encryption.org/v1/X25519')
  const fileKey = openChunk(wrapKey, Buffer.alloc(12), Buffer.from(lines[2] ?? '', 'base64'))
  const payloadKey = derive(fileKey, file.subarray(payloadAt, payloadAt + 16), 'payload')
  const chunks: Buffer[] = []
  let counter = 0
  for (let at = payloadAt + 16; at < file.length; at += 65_552, counter++) {
    const isLast = at + 65_552 >= file.length
    const nonce = Buffer.alloc(12)
    nonce.writeUInt32BE(counter, 7)
    nonce[11] = isLast ? 1 : 0
    chunks.push(openChunk(payloadKey, nonce, file.subarray(at, at + 65_552)))
  }
  return Buffer.concat(chunks)
}

function derive(secret: Buffer, salt: Buffer, info: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, salt, info, 32))
}

function openChunk(key: Buffer, nonce: Buffer, sealed: Buffer): Buffer {
  const decipher = createDecipheriv('chacha20-poly1305', key, nonce, { authTagLength: 16 })
  decipher.setAuthTag(sealed.subarray(-16))
  return Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()])
}
