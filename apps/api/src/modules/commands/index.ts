export { dropCommands, listCommandsFor, queueCommand, settle } from './service.ts'
