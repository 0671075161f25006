import { type ErrorCode, errorCatalogue } from '@turnback/core'
import { problemSchema, type Route, routes } from '@turnback/core/api'
import { z } from 'zod'
import { HTTP_STATUS } from './errors.ts'

type Json = Record<string, unknown>

/** What any route of a kind can answer beside its own errors. */
export function impliedErrors(route: Route): ErrorCode[] {
  const always: ErrorCode[] = ['INTERNAL', 'STORAGE_UNAVAILABLE']
  const input: ErrorCode[] =
    route.params === undefined && route.query === undefined && route.body === undefined
      ? []
      : ['VALIDATION_FAILED']
  if (route.takesIdempotencyKey === true)
    always.push('IDEMPOTENCY_MISMATCH', 'IDEMPOTENCY_PENDING', 'IDEMPOTENCY_UNANSWERED')
  switch (route.access.kind) {
    case 'public':
      return [...always, ...input, ...(route.method === 'GET' ? [] : (['CROSS_ORIGIN'] as const))]
    case 'machine':
      return [
        ...always,
        ...input,
        'UNAUTHENTICATED',
        'SIGNATURE_INVALID',
        'MACHINE_REVOKED',
        'PAYLOAD_TOO_LARGE',
      ]
    case 'person':
    case 'member':
      return [
        ...always,
        ...input,
        'UNAUTHENTICATED',
        'FORBIDDEN',
        ...(route.method === 'GET' ? [] : (['CROSS_ORIGIN'] as const)),
      ]
  }
}

/** OpenAPI 3.1 of the wire contract. The same contract always gives the same document. */
export function makeOpenApi(version: string): Json {
  const paths: Record<string, Json> = {}
  for (const [name, route] of Object.entries(routes)) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operationOf(name, route) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Turnback',
      version,
      summary: 'The history of what AI coding agents did to working trees, and the undo button for it.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    paths,
    components: {
      schemas: { Problem: schemaOf(problemSchema, 'output') },
      securitySchemes: {
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'turnback_session',
          description: 'A signed-in person. Over HTTPS the name begins with `__Host-`.',
        },
        machine: {
          type: 'http',
          scheme: 'Turnback-Machine',
          description: 'A request that an enrolled machine signed; see docs/protocol.md.',
        },
      },
    },
  }
}

const idempotencyKey: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'For 24 hours the same request with the same key is done once and answered the same.',
  schema: { type: 'string', pattern: '^[!-~]{1,255}$' },
}

const ifNoneMatch: Json = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'The ETag of the answer that the caller has.',
  schema: { type: 'string' },
}
const notModified: Json = { '304': { description: 'The caller has it already.' } }

function operationOf(name: string, route: Route): Json {
  return {
    operationId: name,
    summary: route.summary,
    ...(route.access.kind === 'member'
      ? { description: `Needs the role ${route.access.role} in the project, or more.` }
      : {}),
    security: securityOf(route),
    parameters: [
      ...parametersOf(route.params, 'path'),
      ...parametersOf(route.query, 'query'),
      ...(route.takesIdempotencyKey === true ? [idempotencyKey] : []),
      ...(route.hasEtag === true ? [ifNoneMatch] : []),
    ],
    ...bodyOf(route),
    responses: { ...successOf(route), ...(route.hasEtag === true ? notModified : {}), ...failuresOf(route) },
  }
}

function securityOf(route: Route): Json[] {
  switch (route.access.kind) {
    case 'public':
      return []
    case 'machine':
      return [{ machine: [] }]
    case 'person':
    case 'member':
      return [{ session: [] }]
  }
}

function parametersOf(schema: z.ZodObject | undefined, place: 'path' | 'query'): Json[] {
  if (schema === undefined) return []
  return Object.entries(schema.shape).map(([name, field]) => ({
    name,
    in: place,
    required: place === 'path' || !z.safeParse(z.object({ field: field as z.ZodType }), {}).success,
    schema: schemaOf(field as z.ZodType, 'input'),
  }))
}

function bodyOf(route: Route): Json {
  if (route.bytes !== undefined) {
    const { contentType, maxBytes } = route.bytes
    const description = `Bytes, at most ${maxBytes}.`
    return { requestBody: { required: true, description, content: { [contentType]: { schema: {} } } } }
  }
  if (route.body === undefined) return {}
  return {
    requestBody: {
      required: true,
      content: { 'application/json': { schema: schemaOf(route.body, 'input') } },
    },
  }
}

function successOf(route: Route): Json {
  const status = String(route.status ?? 200)
  if (route.response === null) return { [status]: { description: 'Done; no content.' } }
  if (route.response === 'bytes')
    return { [status]: { description: 'Bytes.', content: { 'text/plain': { schema: {} } } } }
  return {
    [status]: {
      description: 'Done.',
      content: { 'application/json': { schema: schemaOf(route.response, 'output') } },
    },
  }
}

function failuresOf(route: Route): Json {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of new Set([...route.errors, ...impliedErrors(route)])) {
    const status = HTTP_STATUS[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  const content = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } }
  const describe = (codes: ErrorCode[]) =>
    codes
      .toSorted()
      .map((code) => `\`${code}\`: ${errorCatalogue[code].message}`)
      .join('\n')
  return Object.fromEntries(
    [...byStatus]
      .sort(([a], [b]) => a - b)
      .map(([status, codes]) => [String(status), { description: describe(codes), content }]),
  )
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...json } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    target: 'draft-2020-12',
  })
  return json
}
