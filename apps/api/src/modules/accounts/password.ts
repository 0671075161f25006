import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'

const derive = promisify(argon2)
/** OWASP's minimum for Argon2id: 19 MiB, two passes, one lane. */
const MEMORY_KIB = 19_456
const PASSES = 2
const LANES = 1
const TAG_BYTES = 32
const FORM = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/

/** The usual written form, with its parameters, so they can be raised later. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  const tag = await tagOf(password, salt, {
    memory: MEMORY_KIB,
    passes: PASSES,
    lanes: LANES,
    tagBytes: TAG_BYTES,
  })
  return `$argon2id$v=19$m=${MEMORY_KIB},t=${PASSES},p=${LANES}$${unpadded(salt)}$${unpadded(tag)}`
}

export async function verifyPassword(stored: string, password: string): Promise<boolean> {
  const [, memory, passes, lanes, salt, tag] = FORM.exec(stored) ?? []
  if (
    memory === undefined ||
    passes === undefined ||
    lanes === undefined ||
    salt === undefined ||
    tag === undefined
  )
    return false
  const wanted = Buffer.from(tag, 'base64')
  const given = await tagOf(password, Buffer.from(salt, 'base64'), {
    memory: Number(memory),
    passes: Number(passes),
    lanes: Number(lanes),
    tagBytes: wanted.length,
  })
  return timingSafeEqual(wanted, given)
}

function tagOf(
  password: string,
  salt: Uint8Array,
  cost: { memory: number; passes: number; lanes: number; tagBytes: number },
): Promise<Uint8Array> {
  return derive('argon2id', {
    message: password.normalize('NFC'),
    nonce: salt,
    parallelism: cost.lanes,
    tagLength: cost.tagBytes,
    memory: cost.memory,
    passes: cost.passes,
  })
}

function unpadded(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replaceAll('=', '')
}
