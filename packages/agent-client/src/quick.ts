import { runPlainLine } from '#cli/run-plain.ts'
import { caller, streams } from './this-process.ts'

// Where the bundle begins for what agents wait for: with nothing that only other commands need. A line that it does not
// understand is left to main.ts, from the beginning.
runPlainLine(process.argv.slice(2), caller, streams)
  .then((code) => {
    if (code === null) return import('./main.ts')
    process.exitCode = code
  })
  .catch((error: unknown) => {
    throw error
  })
