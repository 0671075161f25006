import type { IncomingHttpHeaders } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { DomainError } from '@turnback/core'
import type { WrittenAnswer } from './answer.ts'
import { HTTP_STATUS, PROBLEM, toDomainError, toProblem } from './errors.ts'

/** One request under an idempotency key. */
export interface Asked {
  /** Keys are each actor's own: nobody meets another's. */
  readonly actor: string
  readonly key: string
  /** All that makes it this request and no other. */
  readonly request: string
  /** Of this try: what it does stands under it in the audit. */
  readonly requestId: string
}

export type Claim =
  /** This try is the one that does it. */
  | { readonly is: 'mine' }
  | { readonly is: 'answered'; readonly answer: WrittenAnswer }
  /** Another try is at it. */
  | { readonly is: 'pending' }
  /** Another try did it and ended without an answer that could be kept. */
  | { readonly is: 'unanswered' }
  /** The key belongs to another request. */
  | { readonly is: 'mismatch' }

/** Where keys and their answers are kept, for all instances of the service. */
export interface AnswerKeeper {
  /** Takes the key for this try, or tells who has it. Of many at once exactly one gets `mine`. */
  claim(asked: Asked): Promise<Claim>
  keep(asked: Asked, answer: WrittenAnswer): Promise<void>
  /** This try ends without an answer: another may find out at once whether it is to be done again. */
  abandon(asked: Asked): Promise<void>
}

const WAIT_MS = 10_000
const LOOK_AGAIN_MS = 50

/** The key that the caller gave, or null. @throws VALIDATION_FAILED */
export function readIdempotencyKey(headers: IncomingHttpHeaders): string | null {
  const given = headers['idempotency-key']
  if (given === undefined) return null
  if (typeof given === 'string' && /^[\x21-\x7e]{1,255}$/.test(given)) return given
  throw new DomainError('VALIDATION_FAILED', {
    fields: [{ path: 'Idempotency-Key', message: '1 to 255 printable characters without spaces' }],
  })
}

/**
 * Does `work` once for all tries with the same key, and gives each the same answer: what it answered, or how it
 * was refused. A failure of ours is not kept: it is tried again, unless the deed was done.
 * @throws IDEMPOTENCY_MISMATCH, IDEMPOTENCY_PENDING, IDEMPOTENCY_UNANSWERED, and what `work` throws
 */
export async function answerOnce(
  keeper: AnswerKeeper,
  asked: Asked,
  work: () => Promise<WrittenAnswer>,
  options: {
    readonly signal: AbortSignal
    onReplay(): void
    onPending(retryAfterSeconds: number): void
    /** The deed is done and answered; only a repeat would learn that the answer is lost. */
    onUnkept(error: unknown): void
  },
): Promise<WrittenAnswer> {
  const giveUpAt = performance.now() + WAIT_MS
  for (;;) {
    const claim = await keeper.claim(asked)
    switch (claim.is) {
      case 'mine':
        return await doIt(keeper, asked, work, options.onUnkept)
      case 'answered':
        options.onReplay()
        return claim.answer
      case 'mismatch':
        throw new DomainError('IDEMPOTENCY_MISMATCH')
      case 'unanswered':
        throw new DomainError('IDEMPOTENCY_UNANSWERED')
      case 'pending':
        if (performance.now() > giveUpAt || options.signal.aborted) {
          options.onPending(1)
          throw new DomainError('IDEMPOTENCY_PENDING')
        }
        await pause(LOOK_AGAIN_MS)
    }
  }
}

async function doIt(
  keeper: AnswerKeeper,
  asked: Asked,
  work: () => Promise<WrittenAnswer>,
  onUnkept: (error: unknown) => void,
): Promise<WrittenAnswer> {
  let answer: WrittenAnswer
  try {
    answer = await work()
  } catch (thrown) {
    const error = toDomainError(thrown)
    if (isFinal(error)) await keeper.keep(asked, refusalOf(error, asked.requestId))
    else await keeper.abandon(asked)
    throw thrown
  }
  try {
    await keeper.keep(asked, answer)
  } catch (error) {
    onUnkept(error)
  }
  return answer
}

/** A refusal that says something about the request, not about this moment of the service. */
function isFinal(error: DomainError): boolean {
  return HTTP_STATUS[error.code] < 500 && error.code !== 'RATE_LIMITED'
}

function refusalOf(error: DomainError, requestId: string): WrittenAnswer {
  const body = JSON.stringify(toProblem(error, requestId))
  return { status: HTTP_STATUS[error.code], contentType: PROBLEM, headers: {}, body }
}
