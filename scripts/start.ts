/*
 * `pnpm start`: the service, with its data in one folder that the next start finds again.
 * Environment: TURNBACK_DATA, PORT, HOST, DATABASE_URL (docs/reference/config.md).
 */
import { resolve } from 'node:path'
import { bold, dim, say } from './progress.ts'
import { defaultDataDir, settingsOf, startService } from './service.ts'
import { supervise } from './supervisor.ts'

await supervise(async (supervisor) => {
  const dataDir = resolve(process.env.TURNBACK_DATA || defaultDataDir(process.env))
  const { url, setUpUrl } = await startService(supervisor, { dataDir, ...settingsOf(process.env) })
  say()
  say(`Turnback runs at ${bold(url)}`)
  if (setUpUrl)
    say(`\nThere is no administrator yet. This link makes the first one, once:\n\n    ${bold(setUpUrl)}\n`)
  say(dim(`Data and logs: ${dataDir}. Ctrl-C ends it.`))
  await supervisor.untilEnd()
})
