import { DomainError, relPathSchema } from '@turnback/core'
import { routes } from '@turnback/core/api'
import { z } from 'zod'
import type { Deps } from '#deps.ts'
import { BytesAnswer } from '#http/answer.ts'
import type { Implement } from '#http/implement.ts'
import { readCursor, toPage, writeCursor } from '#http/page.ts'
import { listDiffs, readSide } from './diff-service.ts'
import { getTurn, listEntryPage, listTurnPage } from './service.ts'

const placeSchema = z.string().regex(/^\d{1,15}$/)

export function turnRoutes(implement: Implement, deps: Deps): void {
  implement(routes.listTurns, async ({ params, query }) => {
    const { cursor, limit, ...filter } = query
    const before = readCursor(cursor, placeSchema)
    const page = { before: before === null ? null : Number(before), limit: limit + 1 }
    const rows = await listTurnPage(deps, { ...filter, project: params.project }, page)
    const { items, nextCursor } = toPage(rows, limit, (row) => String(row.place))
    return { items: items.map((row) => row.summary), nextCursor }
  })

  implement(routes.getTurn, ({ actor, params }) => getTurn(deps, actor.id, params.turn))

  implement(routes.listEntries, async ({ actor, params, query }) => {
    const after = readCursor(query.cursor, relPathSchema)
    const rows = await listEntryPage(deps, actor.id, params.turn, { after, limit: query.limit + 1 })
    return toPage(rows, query.limit, (entry) => entry.path)
  })

  implement(routes.getDiff, async ({ actor, params, query }) => {
    const page = {
      path: query.path ?? null,
      after: readCursor(query.cursor, relPathSchema),
      limit: query.limit,
    }
    const { items, hasMore } = await listDiffs(deps, actor.id, params.turn, page)
    if (query.format === 'patch')
      return textAnswer(Buffer.concat(items.map((item) => item.patch)), 'turn.patch')
    const last = items.at(-1)
    return {
      items: items.map((item) => item.diff),
      nextCursor: hasMore && last !== undefined ? writeCursor(last.diff.path) : null,
    }
  })

  implement(routes.getFile, async ({ actor, params, query }) => {
    if (!relPathSchema.safeParse(params.path).success) throw new DomainError('PATH_NOT_FOUND')
    return textAnswer(await readSide(deps, actor.id, params.turn, params.path, query.side), 'file.txt')
  })
}

/** People's bytes are never a page of ours: plain text that no browser reads as anything else, to be saved. */
function textAnswer(bytes: Uint8Array, name: string): BytesAnswer {
  return new BytesAnswer('text/plain; charset=utf-8', bytes, {
    'content-disposition': `attachment; filename="${name}"`,
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': 'private, no-cache',
  })
}
