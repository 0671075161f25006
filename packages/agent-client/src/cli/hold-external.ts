import { createInterface } from 'node:readline/promises'
import { isatty } from 'node:tty'
import { DomainError } from '@turnback/core'
import { findOutward } from '#restore/outward-commands.ts'
import type { TaskPlan } from '#task/task.ts'
import { onOneLine } from './visible.ts'

/**
 * What the task's own commands reach beyond its files waits for a person's yes before anything is begun: no rollback
 * gives that back. What an agent does inside is not seen from here.
 * @throws EXTERNAL_HELD without that yes
 */
export async function askForYes({ line, verify }: Pick<TaskPlan, 'line' | 'verify'>): Promise<void> {
  const effects = [...new Set([line, ...verify].flatMap((each) => findOutward(each)))]
  if (effects.length === 0) return
  if (!isatty(0) || !isatty(2)) throw new DomainError('EXTERNAL_HELD', { effects })
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const held = effects.map((each) => `  ${onOneLine(each)}\n`).join('')
  // Ctrl-C and Ctrl-D are no yes.
  const { promise, resolve } = Promise.withResolvers<string>()
  terminal.on('SIGINT', () => resolve(''))
  terminal.on('close', () => resolve(''))
  const asked = terminal.question(`This task reaches beyond its files:\n${held}Go on? [y/N] `)
  try {
    const answer = await Promise.race([asked, promise])
    if (!/^(?:y|yes)$/i.test(answer.trim())) throw new DomainError('EXTERNAL_HELD', { effects })
  } finally {
    terminal.close()
  }
}
