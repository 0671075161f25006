import { readConfig } from './config.ts'
import { startService } from './service.ts'

const service = await startService(readConfig(process.env))

const link = await service.operator.makeSetupLink()
if (link !== null) process.stderr.write(`Make the first administrator, once, within a day: ${link}\n`)
// Last: whoever started this waits for it, and has then read the link too.
process.stderr.write(`Turnback is at ${service.url}\n`)

let isStopping = false
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    if (isStopping) return
    isStopping = true
    service.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        process.stderr.write(`stopping failed: ${String(error)}\n`)
        process.exit(1)
      },
    )
  })
