export { markTakenUp } from './machine-service.ts'
export { restoreRoutes } from './routes.ts'
export { expireRestores } from './service.ts'
