export type { Command } from './queries.ts'
export { dropCommands, listCommandsFor, queueCommand, settle } from './service.ts'
