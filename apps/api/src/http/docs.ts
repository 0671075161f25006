import scalar from '@scalar/fastify-api-reference'
import type { FastifyInstance } from 'fastify'
import { makeOpenApi } from './openapi.ts'

/** The page is a bundle of its own with inline parts; it holds no data, and no cookie of ours is of use to it. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "font-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'"

/** `/openapi.json`, and a page that shows it. */
export async function docsRoutes(app: FastifyInstance, version: string): Promise<void> {
  const document = makeOpenApi(version)
  const text = JSON.stringify(document)
  app.get('/openapi.json', (_request, reply) => reply.type('application/json; charset=utf-8').send(text))
  const page = async (docs: FastifyInstance): Promise<void> => {
    docs.addHook('onSend', async (_request, reply) => {
      reply.header('content-security-policy', PAGE_POLICY)
    })
    await docs.register(scalar, {
      routePrefix: '/docs',
      configuration: { content: document, withDefaultFonts: false, telemetry: false },
    })
  }
  // biome-ignore lint/nursery/noMisusedPromises: plugins may be asynchronous; the rule sees the other overload only
  await app.register(page)
}
