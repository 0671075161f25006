import { z } from 'zod'
import { defineRoute } from './route.ts'

export const getHealth = defineRoute({
  method: 'GET',
  path: '/healthz',
  summary: 'Whether the process is up',
  access: { kind: 'public' },
  response: z.object({ status: z.literal('ok'), version: z.string() }),
  errors: [],
})

export const getReadiness = defineRoute({
  method: 'GET',
  path: '/readyz',
  summary: 'Whether database and object store answer and the schema is current',
  access: { kind: 'public' },
  response: z.object({ status: z.literal('ready'), checks: z.record(z.string(), z.literal('ok')) }),
  errors: ['STORAGE_UNAVAILABLE'],
})
