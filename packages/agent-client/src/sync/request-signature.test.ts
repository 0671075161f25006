import { generateKeyPairSync, sign, verify } from 'node:crypto'
import { expect, it } from 'vitest'
import { type RequestSigner, requestToBeSigned, sha256Hex, signRequest } from './request-signature.ts'

const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const identity: RequestSigner = {
  machine: 'm_00000000000000000000000001',
  sign: (bytes) => sign(null, bytes, privateKey).toString('base64url'),
}

it('signs method, path with query, time, nonce and the hash of the body', () => {
  const request = {
    method: 'PUT',
    path: '/v1/turns/t_1?x=1',
    bodySha256: sha256Hex([Buffer.from('a'), Buffer.from('bc')]),
  }
  const header = signRequest(identity, request, 1_700_000_000_123, new Uint8Array(16).fill(7))
  const fields =
    /^Turnback-Machine machine=(m_\w+),ts=(\d+),nonce=([\w-]+),sha256=([0-9a-f]{64}),sig=([\w-]{86})$/.exec(
      header,
    )
  expect(fields?.slice(1, 5)).toEqual([
    identity.machine,
    '1700000000123',
    'BwcHBwcHBwcHBwcHBwcHBw',
    'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  ])
  const signature = Buffer.from(fields?.[5] ?? '', 'base64url')
  const message =
    'turnback/request/v1\nPUT\n/v1/turns/t_1?x=1\n1700000000123\nBwcHBwcHBwcHBwcHBwcHBw\n' +
    'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
  expect(verify(null, Buffer.from(message), publicKey, signature)).toBe(true)
  const other = requestToBeSigned(
    { ...request, path: '/v1/turns/t_2?x=1' },
    1_700_000_000_123,
    'BwcHBwcHBwcHBwcHBwcHBw',
  )
  expect(verify(null, Buffer.from(other), publicKey, signature)).toBe(false)
})
