export { type AuditEvent, recordEvent } from './queries.ts'
