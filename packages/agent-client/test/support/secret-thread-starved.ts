import { closeSync, openSync } from 'node:fs'
import { DomainError } from '@turnback/core'
import { createSecretThread } from '#crypto/secret-thread.ts'

/**
 * Asks the thread that searches for secrets while this process may open nothing more, and again when it may. What comes
 * of it goes to standard output: one error, one masked text.
 */
const TEXT = 'a token: ghp_0123456789abcdefghijklmnopqrstuvwxyz and more'
const secrets = createSecretThread()
// So that what tells of it is loaded.
process.stdout.write('')

const held: number[] = []
try {
  for (;;) held.push(openSync('/dev/null', 'r'))
} catch {
  // No more to be had.
}
const starved = await secrets.mask(TEXT).catch((error: unknown) => error)
for (const fd of held) closeSync(fd)
const fed = await secrets.mask(TEXT)
secrets.close()
const error = starved instanceof DomainError ? starved.toJSON() : String(starved)
process.stdout.write(`${JSON.stringify({ error, fed })}\n`)
