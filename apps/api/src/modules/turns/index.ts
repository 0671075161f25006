export { turnRoutes } from './routes.ts'
