import { DomainError } from '@turnback/core'
import type { LandingWords } from './land.ts'
import type { Repository } from './repository.ts'

/**
 * Commits an index as it is, by git itself, so that hooks and signing are as the repository's owner has them.
 * @returns the commit, or null when the index is no other than HEAD
 * @throws LANDING_FAILED
 */
export async function commitIndex(
  { git, head }: Pick<Repository, 'git' | 'head'>,
  indexFile: string,
  { subject, trailers }: LandingWords,
): Promise<string | null> {
  if (await isSame({ git, head }, indexFile)) return null
  const message = await git.get(
    'LANDING_FAILED',
    ['interpret-trailers', ...trailers.flatMap((trailer) => ['--trailer', trailer])],
    { input: Buffer.from(`${subject}\n`) },
  )
  const { status, words, stdout } = await git.run(
    [...NO_UPKEEP, 'commit', '--quiet', '--no-status', '--cleanup=whitespace', '--file=-'],
    { input: message, indexFile },
  )
  const commit = await git.findCommit('HEAD')
  if (status !== 0 || commit === null || commit === head) {
    const said = [words, stdout.toString('utf8').trim()].filter((text) => text !== '').join('\n')
    throw new DomainError('LANDING_FAILED', { said })
  }
  await refuseOtherParent({ git, head }, commit)
  return commit
}

/** Nobody waits for what git might put in order afterwards. */
const NO_UPKEEP = ['-c', 'gc.auto=0', '-c', 'maintenance.auto=false']

async function isSame({ git, head }: Pick<Repository, 'git' | 'head'>, indexFile: string): Promise<boolean> {
  if (head === null) return (await git.get('LANDING_FAILED', ['ls-files', '-z'], { indexFile })).length === 0
  const { status, words } = await git.run(['diff-index', '--cached', '--quiet', head], { indexFile })
  if (status > 1 || status < 0) throw new DomainError('LANDING_FAILED', { said: words })
  return status === 0
}

/**
 * The index was made of what HEAD was. Had somebody committed in between, this commit would take theirs back: it is taken
 * off again, if nothing came on top.
 */
async function refuseOtherParent(
  { git, head }: Pick<Repository, 'git' | 'head'>,
  commit: string,
): Promise<void> {
  const parent = await git.findCommit(`${commit}^`)
  if (parent === head) return
  if (parent !== null) await git.run(['update-ref', '-m', 'turnback: taken off', 'HEAD', parent, commit])
  throw new DomainError(
    'LANDING_FAILED',
    { parent },
    { message: 'Somebody committed at the same moment, so the task’s commit was taken off again.' },
  )
}

/** Takes a commit off its branch again, if nothing came on top. */
export async function takeOff(
  { git, head }: Pick<Repository, 'git' | 'head'>,
  commit: string,
): Promise<void> {
  const why = ['-m', 'turnback: taken off']
  const args = head === null ? [...why, '-d', 'HEAD', commit] : [...why, 'HEAD', head, commit]
  await git.run(['update-ref', ...args])
}
