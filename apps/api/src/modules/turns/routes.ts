import { DomainError, relPathSchema } from '@turnback/core'
import { routes } from '@turnback/core/api'
import { z } from 'zod'
import type { Deps } from '#deps.ts'
import { BytesAnswer, NotModified } from '#http/answer.ts'
import { etagOf } from '#http/etag.ts'
import type { Implement } from '#http/implement.ts'
import { readCursor, toPage, writeCursor } from '#http/page.ts'
import { getSideBlob, listDiffs, readBlob } from './diff-service.ts'
import { getTurn, getTurnPlace, listEntryPage, listTurnPage } from './service.ts'

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

  const { version } = deps.config

  // Its marks, its neighbours and whether its machine is there may change: the tag is of the whole answer.
  implement(routes.getTurn, async ({ actor, params, unlessKnown }) => {
    const turn = await getTurn(deps, actor.id, params.turn)
    return await unlessKnown(etagOf(JSON.stringify(turn)), async () => turn)
  })

  implement(routes.listEntries, async ({ actor, params, query, unlessKnown }) => {
    const after = readCursor(query.cursor, relPathSchema)
    const place = await getTurnPlace(deps, actor.id, params.turn)
    const etag = etagOf(version, 'entries', place.envelopeSha256, after, query.limit)
    return await unlessKnown(etag, async () => {
      const rows = await listEntryPage(deps, place, { after, limit: query.limit + 1 })
      return toPage(rows, query.limit, (entry) => entry.path)
    })
  })

  implement(routes.getDiff, async ({ actor, params, query, unlessKnown }) => {
    const { path = null, limit, format } = query
    const after = readCursor(query.cursor, relPathSchema)
    const place = await getTurnPlace(deps, actor.id, params.turn)
    const etag = etagOf(version, 'diff', place.envelopeSha256, path, after, limit, format)
    const found = await unlessKnown(
      etag,
      () => listDiffs(deps, place, { path, after, limit }),
      // Bytes that are not here may come yet.
      ({ items }) => items.every(({ diff }) => diff.withheld !== 'missing'),
    )
    if (found instanceof NotModified) return found
    const { items, hasMore } = found
    if (format === 'patch') return textAnswer(Buffer.concat(items.map((item) => item.patch)), 'turn.patch')
    const last = items.at(-1)
    return {
      items: items.map((item) => item.diff),
      nextCursor: hasMore && last !== undefined ? writeCursor(last.diff.path) : null,
    }
  })

  implement(routes.getFile, async ({ actor, params, query, unlessKnown }) => {
    const place = await getTurnPlace(deps, actor.id, params.turn)
    if (!relPathSchema.safeParse(params.path).success) throw new DomainError('PATH_NOT_FOUND')
    const blob = await getSideBlob(deps, place, params.path, query.side)
    return await unlessKnown(`"${blob}"`, async () =>
      textAnswer(await readBlob(deps, place, blob), 'file.txt'),
    )
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
