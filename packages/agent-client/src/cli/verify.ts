import { createHash } from 'node:crypto'
import { DomainError } from '@turnback/core'
import { verifyBlobs } from '#store/verify-blobs.ts'
import { type Affected, listAffected } from '#verify/affected.ts'
import { verifyLog } from '#verify/verify-log.ts'
import type { Context, Register } from './context.ts'
import { EXIT } from './exit-code.ts'
import { onOneLine } from './visible.ts'

export const register: Register = (program, context) => {
  program
    .command('verify')
    .option('--subset <n/m>', 'only the Nth of M parts of all blobs and turns')
    .description(
      'read every blob of the store and compare it with its name, and the log with what was signed',
    )
    .action((options: { subset?: string }) => {
      const isChosen = chooseSubset(options.subset)
      const { deps } = context
      const log = verifyLog(deps, isChosen)
      const { packs, ...blobs } = verifyBlobs({
        ...{ db: deps.db, log: deps.log, packs: deps.packs, blobs: deps.packedBlobs, isChosen },
        progress: sayOnTerminal(context),
      })
      const affected = listReadable(() => listAffected(deps, [...blobs.missing, ...blobs.corrupt]))
      const result = { ...blobs, packs, log, affected }
      const faults = blobs.missing.length + blobs.corrupt.length + packs.length + log.length
      if (faults > 0) context.exitCode = EXIT.failed
      context.print(result, () => inWords(result))
    })
}

type Result = ReturnType<typeof verifyBlobs> & {
  readonly log: ReturnType<typeof verifyLog>
  readonly affected: readonly Affected[]
}

function inWords({ blobs, bytes, missing, corrupt, packs, log, affected }: Result): string {
  return [
    `${blobs} blobs, ${bytes} bytes`,
    ...missing.map((id) => `missing ${id}`),
    ...corrupt.map((id) => `corrupt ${id}`),
    ...packs.map((name) => `damaged pack ${name}`),
    ...log.map(({ workspace, turn, what }) => `log ${workspace} ${turn ?? ''}: ${onOneLine(what)}`),
    ...affected.map(
      ({ path, workspace, turns, isPresent }) =>
        `affected ${onOneLine(path)} in ${workspace}: ${[...turns, ...(isPresent ? ['now'] : [])].join(' ')}`,
    ),
  ].join('\n')
}

/** With a damaged log, who needed the bytes can not always be said. */
function listReadable(list: () => Affected[]): Affected[] {
  try {
    return list()
  } catch (error) {
    if (error instanceof SyntaxError || (error instanceof Error && 'errcode' in error)) return []
    throw error
  }
}

function sayOnTerminal(context: Context): (blobs: number) => void {
  if (!process.stderr.isTTY || context.isJson) return () => {}
  return (blobs) => {
    if (blobs % 10_000 === 0) context.talk(`${blobs} blobs`)
  }
}

function chooseSubset(subset: string | undefined): (id: string) => boolean {
  if (subset === undefined) return () => true
  const [, part, parts] = /^([0-9]{1,6})\/([0-9]{1,6})$/.exec(subset) ?? []
  const [n, m] = [Number(part), Number(parts)]
  if (part === undefined || n < 1 || n > m) throw new DomainError('USAGE', { subset })
  return (id) => createHash('sha256').update(id).digest().readUInt32BE(0) % m === n - 1
}
