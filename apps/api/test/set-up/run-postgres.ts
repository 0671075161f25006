import { startEmbeddedPostgres } from '#embedded/index.ts'

// Run by embedded.test.ts as a process of its own, to be killed: prints the address, then stays.
const { url } = await startEmbeddedPostgres({ dataDir: process.argv[2] ?? '' })
process.stdout.write(`${url}\n`)
setInterval(() => undefined, 60_000)
