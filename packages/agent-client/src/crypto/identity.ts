import { createPrivateKey, createPublicKey, type KeyObject, randomBytes, sign } from 'node:crypto'
import { headerLine, invariant, isId, type MachineId, makeId, signedPrefix } from '@turnback/core'
import type { MachineIdentity } from '#ports.ts'
import { writeBech32 } from './bech32.ts'
import { readOrMakeKey } from './key-file.ts'

/** DER heads of RFC 8410: what stands before the 32 raw bytes of a private key. */
const ED25519_DER = Buffer.from('302e020100300506032b657004220420', 'hex')
const X25519_DER = Buffer.from('302e020100300506032b656e04220420', 'hex')
const KEY_BYTES = 32

/** What `machine.json` holds: the id, and two raw private keys in base64url. */
interface MachineKeys {
  readonly machine: MachineId
  readonly signing: Uint8Array
  readonly sealing: Uint8Array
}

/** The keys of this machine: made on first use, kept in one file that only its owner can read. */
export function openIdentity(keysFolder: string, nowMs: number): MachineIdentity {
  const file = readOrMakeKey(keysFolder, 'machine.json', () => {
    const machine = makeId('m', nowMs, randomBytes(10))
    const key = () => randomBytes(KEY_BYTES).toString('base64url')
    return Buffer.from(`${JSON.stringify({ machine, signing: key(), sealing: key() })}\n`)
  })
  return makeIdentity(parseKeys(file))
}

function parseKeys(file: Uint8Array): MachineKeys {
  const parsed: unknown = JSON.parse(Buffer.from(file).toString('utf8'))
  invariant(typeof parsed === 'object' && parsed !== null, 'the key file holds an object')
  const key = (name: string) => {
    const text: unknown = Reflect.get(parsed, name)
    const bytes = Buffer.from(typeof text === 'string' ? text : '', 'base64url')
    invariant(bytes.length === KEY_BYTES, `the key file holds a ${name} key`)
    return bytes
  }
  const machine = String(Reflect.get(parsed, 'machine'))
  invariant(isId(machine, 'm'), 'the key file names the machine')
  return { machine, signing: key('signing'), sealing: key('sealing') }
}

/** @param keys raw private keys: Ed25519 for signing, X25519 (an age identity) for sealing */
export function makeIdentity(keys: MachineKeys): MachineIdentity {
  const signing = privateKey(ED25519_DER, keys.signing)
  const signBytes = (bytes: Uint8Array) => sign(null, bytes, signing).toString('base64url')
  return {
    machine: keys.machine,
    get publicKey() {
      return rawPublicKey(signing).toString('base64url')
    },
    get ageRecipient() {
      return writeBech32('age', rawPublicKey(privateKey(X25519_DER, keys.sealing)))
    },
    get ageIdentity() {
      return writeBech32('age-secret-key-', keys.sealing).toUpperCase()
    },
    sign: signBytes,
    signEnvelope(type, body) {
      const prefix = Buffer.from(signedPrefix(type, keys.machine, body.length), 'ascii')
      const signature = signBytes(Buffer.concat([prefix, body]))
      return Buffer.concat([Buffer.from(headerLine(type, keys.machine, signature), 'ascii'), body])
    },
  }
}

function privateKey(head: Uint8Array, raw: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([head, raw]), format: 'der', type: 'pkcs8' })
}

function rawPublicKey(key: KeyObject): Buffer {
  const der = createPublicKey(key).export({ format: 'der', type: 'spki' })
  return der.subarray(der.length - KEY_BYTES)
}
