import type { RelPath } from '#path/rel-path.ts'

/**
 * A SQLite database is a file and the logs beside it: one of them from another moment than the others is a damaged
 * database (sqlite.org/howtocorrupt.html). The shared memory (`-shm`) is made anew by whoever opens it.
 */
export const DATABASE_LOGS = ['-wal', '-journal'] as const

/** The database that a path names a log of, by its name alone; any other path itself. */
export function databaseOf(path: RelPath): RelPath {
  const end = DATABASE_LOGS.find((each) => path.endsWith(each))
  return end === undefined ? path : path.slice(0, -end.length)
}
