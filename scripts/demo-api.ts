/*
 * The API of the demo: the same service, by whose operator a person is made, a machine's code, and a link that signs in.
 * These have no address, so this is a program of its own. It says them in one line of JSON before its address.
 */
import { startService } from '@turnback/api/service'

const { HOST, PORT, PUBLIC_URL, TURNBACK_DATA, WEB_ORIGIN, DEMO_PASSWORD } = process.env
if (!TURNBACK_DATA || !WEB_ORIGIN || !DEMO_PASSWORD) throw new Error('This is started by scripts/demo.ts.')

const service = await startService({
  host: HOST ?? '127.0.0.1',
  port: Number(PORT ?? 4600),
  dataDir: TURNBACK_DATA,
  databaseUrl: null,
  publicUrl: PUBLIC_URL ?? null,
  webOrigin: WEB_ORIGIN,
  secret: null,
  trustedProxies: [],
  logLevel: 'info',
})
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    service.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(error)
        process.exit(1)
      },
    )
  })

const { operator, url } = service
const person = { name: 'Demo User', email: 'demo@example.com', password: DEMO_PASSWORD, isAdmin: true }
const { id } = await operator.ensurePerson(person)
const { code } = await operator.makeEnrollment(id)
const loginLink = await operator.makeLoginLink(id)
console.log(
  `demo ${JSON.stringify({ email: person.email, enrollmentLink: `${url}/enroll#${code}`, loginLink })}`,
)
console.log(`Turnback is at ${url}`)
