import type { ChainHead } from '@turnback/core'
import { routes } from '@turnback/core/api'
import type { HeadItem } from '#ports.ts'
import type { PusherParts } from './push.ts'
import { asDomainError, judgeHeadTrouble } from './push-trouble.ts'
import { callOptions } from './push-turn.ts'

/**
 * Tells the service where a chain ends. One that it refuses for good is not said again: a contradiction stands in
 * the service's audit, and here in the log file and as what this run came to.
 * @throws what kept it from being sent, or why it was refused
 */
export async function sendHead(parts: PusherParts, item: HeadItem, signal?: AbortSignal): Promise<void> {
  const { workspace, seq, sha256, number, at } = item
  const body: ChainHead = { workspace, seq, sha256, number, at }
  const envelope = parts.identity.signEnvelope('head', Buffer.from(JSON.stringify(body)))
  try {
    await parts.caller.call(routes.putHead, { params: { workspace }, bytes: [envelope] }, callOptions(signal))
    parts.note('head-sent', { workspace, seq, number })
  } catch (thrown) {
    const error = asDomainError(thrown)
    const trouble = judgeHeadTrouble(error)
    if (trouble === 'later') throw error
    parts.note('head-refused', { workspace, seq, code: error.code, message: error.message })
    parts.log.deleteHeadToPush(item)
    if (trouble === 'contradicted') throw error
    return
  }
  parts.log.deleteHeadToPush(item)
}
