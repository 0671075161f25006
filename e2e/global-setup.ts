import { startStack } from '#support/stack.ts'

/** Starts the one service of this run, and gives what ends it again. */
export default async function globalSetup(): Promise<() => Promise<void>> {
  const { stack, stop } = await startStack()
  process.env.TURNBACK_E2E_STACK = JSON.stringify(stack)
  return stop
}
