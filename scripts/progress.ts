/*
 * What a person sees while something takes long: a line when a step begins, and one when it is done. On a terminal the
 * running step counts its seconds; elsewhere a line comes every ten seconds, so that no log falls silent.
 */

const isTerminal = process.stdout.isTTY === true
const colour = isTerminal && !process.env.NO_COLOR

export const bold = (text: string) => (colour ? `\u001b[1m${text}\u001b[22m` : text)
export const dim = (text: string) => (colour ? `\u001b[2m${text}\u001b[22m` : text)

export function say(text = ''): void {
  console.log(text)
}

/** Runs one step and says so. The value of `work` is given on; its error too, after the step was marked as failed. */
export async function step<T>(title: string, work: () => T | Promise<T>): Promise<T> {
  const since = performance.now()
  const took = () => `${((performance.now() - since) / 1000).toFixed(1)} s`
  const show = () => (isTerminal ? process.stdout.write(`\r\u001b[K… ${title} ${dim(took())}`) : undefined)
  if (isTerminal) show()
  else say(`… ${title}`)
  const timer = isTerminal ? setInterval(show, 250) : setInterval(() => say(`… ${title} (${took()})`), 10_000)
  const finish = (mark: string) => {
    clearInterval(timer)
    if (isTerminal) process.stdout.write('\r\u001b[K')
    say(`${mark} ${title} ${dim(took())}`)
  }
  try {
    const value = await work()
    finish('✓')
    return value
  } catch (error) {
    finish('✗')
    throw error
  }
}
