import { readFileSync } from 'node:fs'
import { errorCatalogue } from '@turnback/core'
import { routes } from '@turnback/core/api'
import { expect, test } from 'vitest'
import { HTTP_STATUS } from './errors.ts'
import { makeOpenApi } from './openapi.ts'

// After a change on purpose: vitest run --project unit apps/api/src/http/reference.test.ts -u
const folder = new URL('../../../../docs/reference/', import.meta.url).pathname

test('docs/reference/openapi.json is the contract', async () => {
  const text = `${JSON.stringify(makeOpenApi('0.0.0'), null, 2)}\n`
  await expect(text).toMatchFileSnapshot(`${folder}openapi.json`)
})

test('docs/reference/errors.md has every code of the catalogue, and no other', async () => {
  const rows = Object.entries(errorCatalogue).map(([code, { message, remedy }]) => {
    const status = Object.entries(HTTP_STATUS).find(([name]) => name === code)?.[1]
    return `| \`${code}\` | ${status} | ${message} | ${remedy} |`
  })
  const text = [
    '# Errors',
    '',
    'Every expected failure has a code, the same on the wire, on the command line and on the screen. Programs decide by',
    'the code; the message and the remedy are for people. Over HTTP a failure is `application/problem+json` (RFC 9457)',
    'with `code`, `detail`, `remedy` and sometimes `details`; the number is the HTTP status.',
    '',
    '| code | HTTP | message | remedy |',
    '|---|---|---|---|',
    ...rows.sort(),
    '',
  ].join('\n')
  await expect(text).toMatchFileSnapshot(`${folder}errors.md`)
})

test('docs/protocol.md has a heading for every route, and none for what is no route', () => {
  const text = readFileSync(new URL('../../../../docs/protocol.md', import.meta.url), 'utf8')
  const headings = [...text.matchAll(/^### (?:GET|POST|PUT|PATCH|DELETE) .*$/gm)].map((match) =>
    match[0].slice(4),
  )
  const served = Object.values(routes).map((route) => `${route.method} ${route.path}`)
  expect(headings.sort()).toEqual(served.sort())
})
