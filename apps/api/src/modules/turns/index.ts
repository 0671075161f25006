export { turnRoutes } from './routes.ts'
export { getTurnPlace } from './service.ts'
