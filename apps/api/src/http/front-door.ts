import proxy from '@fastify/http-proxy'
import type { FastifyInstance } from 'fastify'

/** Passes everything that is not the API's on to the web's own server, so that there is one port and one origin. */
export async function passToWeb(app: FastifyInstance, webOrigin: string): Promise<void> {
  await app.register(proxy, {
    upstream: webOrigin,
    prefix: '/',
    // Only our own addresses are ever named: no header of a caller's says where a request goes.
    disableRequestLogging: true,
    replyOptions: {
      rewriteRequestHeaders: (request, headers) => ({
        ...headers,
        'x-forwarded-proto': request.protocol,
        'x-forwarded-host': request.host,
      }),
    },
  })
}
