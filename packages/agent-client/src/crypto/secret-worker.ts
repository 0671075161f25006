import { parentPort } from 'node:worker_threads'
import { invariant } from '@turnback/core'
import { createSecretFinder } from './secret-finder.ts'
import type { SecretAnswer, SecretQuestion } from './secret-thread.ts'

// The scanner in a thread of its own: a megabyte of text keeps it busy for a second.
const finder = createSecretFinder()
const port = parentPort
invariant(port !== null, 'this runs as a worker thread')

port.on('message', (question: SecretQuestion) => {
  void answer(question).then((said) => port.postMessage(said))
})

async function answer(question: SecretQuestion): Promise<SecretAnswer> {
  const { id } = question
  try {
    return question.ask === 'find'
      ? { id, found: await finder.find(question.texts) }
      : { id, masked: await finder.mask(question.text) }
  } catch (error) {
    return { id, trouble: error instanceof Error ? error.message : String(error) }
  }
}
