import { readConfig } from '#config.ts'
import { startService } from '#service.ts'

// Run by kill.test.ts as a process of its own, to be killed: prints its address, then serves.
const service = await startService(readConfig(process.env))
process.stdout.write(`${service.url}\n`)
