export { hasEventOf, recordEvent } from './queries.ts'
