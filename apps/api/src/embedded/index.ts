export { type EmbeddedPostgres, startEmbeddedPostgres } from './postgres.ts'
