/* `node e2e/agents/fetch-programs.ts claude-code codex`: has the programs at hand before tests that are timed begin. */
import { fetchProgram } from './fetch-program.ts'
import { isAgentName, programs } from './programs.ts'

const wanted = process.argv.slice(2)
const known = Object.keys(programs)

for (const name of wanted.length > 0 ? wanted : known) {
  if (!isAgentName(name)) {
    console.error(`no agent named ${name}; there are: ${known.join(', ')}`)
    process.exitCode = 2
    continue
  }
  try {
    console.log(`${name}: ${await fetchProgram(name, console.log)}`)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode ||= 1
  }
}
