export { projectRoutes } from './routes.ts'
export { findOrMakeProject } from './service.ts'
