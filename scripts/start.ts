/*
 * `pnpm start`: the service, with its data in one folder that the next start finds again.
 * Settings come from the environment: TURNBACK_DATA, PORT, HOST, PUBLIC_URL, DATABASE_URL (.env.example has all).
 */
import { resolve } from 'node:path'
import { bold, dim, say } from './progress.ts'
import { defaultDataDir, startService } from './service.ts'
import { supervise } from './supervisor.ts'

const SET_UP_LINK = /https?:\/\/\S+\/setup#\S+/

await supervise(async (supervisor) => {
  const dataDir = resolve(process.env.TURNBACK_DATA || defaultDataDir(process.env))
  let setUpLink: string | null = null
  const url = await startService(supervisor, {
    dataDir,
    api: 'apps/api/src/main.ts',
    isSecret: (line) => SET_UP_LINK.test(line),
    onLine: (line) => {
      setUpLink ??= SET_UP_LINK.exec(line)?.[0] ?? null
    },
  })
  say()
  say(`Turnback runs at ${bold(url)}`)
  if (setUpLink)
    say(
      `\nThere is no administrator yet. This link makes the first one, once, within a day:\n\n    ${bold(setUpLink)}\n`,
    )
  say(dim(`Data and logs: ${dataDir}. Ctrl-C ends it.`))
  await supervisor.untilEnd()
})
