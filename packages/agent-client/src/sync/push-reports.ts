import type { RestoreId, TurnId } from '@turnback/core'
import { turnIdSchema } from '@turnback/core'
import { type ReportBody, routes } from '@turnback/core/api'
import type { Log, ReportItem } from '#ports.ts'
import type { PusherParts } from './push.ts'
import { asDomainError, judgeReportTrouble } from './push-trouble.ts'
import { callOptions } from './push-turn.ts'

/** Fact: the turn that a remote restore was asked for; its report needs it when the restore made no turn. */
export const targetKey = (restore: RestoreId) => `sync.target.${restore}`

/**
 * Sends one signed report; says whether the service took it. One that it refuses for good is noted and not
 * sent again: the turn that the restore is says the same in the log.
 * @throws when it is to be tried later
 */
export async function sendReport(
  parts: PusherParts,
  item: ReportItem,
  signal?: AbortSignal,
): Promise<boolean> {
  const target = findTarget(parts.log, item)
  // An undo that found nothing has no turn to be shown with.
  if (target === null) return false
  const body: ReportBody = { restore: item.restore, workspace: item.workspace, target, report: item.report }
  const envelope = parts.identity.signEnvelope('report', Buffer.from(JSON.stringify(body)))
  const input = { params: { restore: item.restore }, bytes: [envelope] }
  try {
    await parts.caller.call(routes.putReport, input, callOptions(signal))
    parts.note('reported', { restore: item.restore, status: item.report.status })
    return true
  } catch (thrown) {
    const error = asDomainError(thrown)
    if (judgeReportTrouble(error) === 'later') throw error
    parts.note('report-refused', { restore: item.restore, code: error.code, message: error.message })
    return false
  }
}

function findTarget(log: Log, item: ReportItem): TurnId | null {
  const row = log.listRestores(item.workspace).find((restore) => restore.detail.id === item.restore)
  if (row !== undefined) return row.detail.target
  const asked = turnIdSchema.safeParse(log.findFact(targetKey(item.restore)))
  return asked.success ? asked.data : (item.report.of[0] ?? null)
}
