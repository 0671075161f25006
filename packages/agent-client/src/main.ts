import { runCommandLine } from '#cli/run.ts'
import { caller, streams } from './this-process.ts'

// Not awaited at the top: the bundle is no module in which that could be done (scripts/build-client.ts).
runCommandLine(process.argv.slice(2), caller, streams).then(
  (code) => {
    process.exitCode = code
  },
  (error: unknown) => {
    throw error
  },
)
