export { openEnvelope } from './envelope-service.ts'
export { readPlainBlob } from './pack-service.ts'
export { pushRoutes } from './routes.ts'
