export { recordEvent } from './queries.ts'
