export { commandRoutes, linkRoutes } from './routes.ts'
