import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import type { Deps } from '#deps.ts'
import type { WrittenAnswer } from '#http/answer.ts'
import type { AnswerKeeper, Asked, Claim } from '#http/idempotency.ts'
import { hasEventOf } from '#modules/audit/index.ts'
import { deleteKeysBefore, findKey, insertKey, setAnswer, setBusyUntil, takeOverKey } from './queries.ts'

const KEPT_MS = 24 * 3_600_000
/** No deed that takes a key works this long: a try without an answer after that came to its end some other way. */
const BUSY_MS = 60_000
const NONCE_BYTES = 12
const TAG_BYTES = 16

interface Names {
  readonly id: Uint8Array
  readonly request: Uint8Array
  readonly sealingKey: Uint8Array
}

export function createAnswerKeeper(deps: Deps): AnswerKeeper {
  const secretOf = (purpose: string) =>
    new Uint8Array(hkdfSync('sha256', deps.config.secret, '', `turnback/idempotency/v1/${purpose}`, 32))
  const [idKey, requestKey, answerKey] = [secretOf('id'), secretOf('request'), secretOf('answer')]
  /** Answers may hold one-time codes: who reads the database alone learns neither keys nor answers. */
  const namesOf = (asked: Asked): Names => {
    const name = JSON.stringify([asked.actor, asked.key])
    return {
      id: hmac(idKey, name),
      request: hmac(requestKey, asked.request),
      sealingKey: hmac(answerKey, name),
    }
  }
  return {
    claim: (asked) => claim(deps, asked, namesOf(asked)),
    keep: async (asked, answer) => {
      const { id, sealingKey } = namesOf(asked)
      await setAnswer(deps.db, id, asked.requestId, seal(sealingKey, answer))
    },
    abandon: async (asked) => {
      await setBusyUntil(deps.db, namesOf(asked).id, asked.requestId, new Date(deps.clock.nowMs()))
    },
  }
}

async function claim(deps: Deps, asked: Asked, names: Names): Promise<Claim> {
  const { id, request, sealingKey } = names
  const { requestId } = asked
  const nowMs = deps.clock.nowMs()
  const busyUntil = new Date(nowMs + BUSY_MS)
  const row = { id, request, requestId, createdAt: new Date(nowMs), busyUntil }
  if (await insertKey(deps.db, row, new Date(nowMs - KEPT_MS))) return { is: 'mine' }
  const held = await findKey(deps.db, id)
  // It was too old and is gone this moment: the next look makes it anew.
  if (held === null) return { is: 'pending' }
  if (!Buffer.from(request).equals(held.request)) return { is: 'mismatch' }
  if (held.answer !== null) return { is: 'answered', answer: unseal(sealingKey, held.answer) }
  if (held.busyUntil.getTime() > nowMs) return { is: 'pending' }
  // Each deed that takes a key writes its event in the deed's own transaction: none there, none done.
  if (await hasEventOf(deps.db, held.requestId)) return { is: 'unanswered' }
  const isTaken = await takeOverKey(deps.db, id, held.requestId, { requestId, busyUntil })
  return { is: isTaken ? 'mine' : 'pending' }
}

export async function forgetOldAnswers(deps: Deps): Promise<void> {
  await deleteKeysBefore(deps.db, new Date(deps.clock.nowMs() - KEPT_MS))
}

/** nonce ‖ AES-256-GCM of the answer ‖ tag */
function seal(key: Uint8Array, answer: WrittenAnswer): Uint8Array {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce)
  const body = Buffer.from(answer.body).toString('base64')
  const text = JSON.stringify({ ...answer, body })
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
}

function unseal(key: Uint8Array, sealed: Uint8Array): WrittenAnswer {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES))
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
  const text = Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()])
  const written: WrittenAnswer & { body: string } = JSON.parse(text.toString('utf8'))
  return { ...written, body: Buffer.from(written.body, 'base64') }
}

function hmac(key: Uint8Array, text: string): Uint8Array {
  return createHmac('sha256', key).update(text).digest()
}
