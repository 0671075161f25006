export { makeEnrollment } from './enrollment-service.ts'
export { machineRoutes } from './routes.ts'
export {
  authenticateMachine,
  forgetOldNonces,
  getOwnWorkspace,
  listMachinesProjects,
  recordGoodbye,
  recordHello,
  recordSignOfLife,
} from './service.ts'
export { isSignedBy } from './signature.ts'
