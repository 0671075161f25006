import type { Step } from './fs-steps.ts'

/** What the kernel says, and what SQLite says when the same happens to it. */
const ERRNO: Readonly<Record<string, readonly [errno: number, sqlite: number]>> = {
  EIO: [-5, 10],
  EACCES: [-13, 14],
  EBUSY: [-16, 5],
  EMFILE: [-24, 14],
  ENOSPC: [-28, 13],
}

/** What the code under test is told in a step's place. */
export function makeError(step: Step, code: string): Error {
  const [errno, errcode] = ERRNO[code] ?? [-1, 1]
  const isSql = step.call === 'exec' || step.call === 'run' || step.call === 'get' || step.call === 'all'
  const facts = isSql
    ? { code: 'ERR_SQLITE_ERROR', errcode, errstr: `injected ${code}` }
    : { code, errno, syscall: step.call.replace(/Sync$/, ''), path: step.target }
  return Object.assign(new Error(`${code}: injected, ${step.call}`), facts)
}
