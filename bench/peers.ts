import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Command, run, type Sample, type Size, sizeOf } from './measure.ts'

const GIT_ENV = {
  PATH: process.env.PATH ?? '',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'bench',
  GIT_AUTHOR_EMAIL: 'bench@localhost',
  GIT_COMMITTER_NAME: 'bench',
  GIT_COMMITTER_EMAIL: 'bench@localhost',
  LC_ALL: 'C',
}

/** What snapshot tools built on git do, as one shell: an index of their own, a tree, a commit, a ref of their own. */
const SNAPSHOT = [
  'cp .git/index .git/bench-index',
  'export GIT_INDEX_FILE=.git/bench-index',
  'git add -A',
  'tree=$(git write-tree)',
  'commit=$(git commit-tree "$tree" -p HEAD -m snapshot)',
  'git update-ref "refs/bench/$1" "$commit"',
].join(' && ')

/** What such tools do to go back, the present saved first: then the tree is that of the ref, and the index HEAD's again. */
const RESTORE = [
  `( ${SNAPSHOT} )`,
  'git add -A',
  'git restore --source=refs/bench/before --staged --worktree -- .',
  'git reset -q',
].join(' && ')

/** A git repository in the measured tree itself. */
export class Git {
  readonly #root: string
  #snapshots = 0

  constructor(root: string) {
    this.#root = root
  }

  command(...args: string[]): Command {
    return { argv: ['git', ...args], cwd: this.#root, env: GIT_ENV }
  }

  /** A repository with one commit, whose index is warm; it never tidies up in the background. */
  init(): void {
    run(this.command('init', '-q'))
    run(this.command('config', 'gc.auto', '0'))
    run(this.command('config', 'maintenance.auto', 'false'))
    this.commit()
    run(this.command('status', '--short'))
  }

  commit(): void {
    run(this.command('add', '-A'))
    run(this.command('commit', '-q', '--allow-empty', '-m', 'state'))
  }

  snapshot(): Sample {
    this.#snapshots++
    return run({
      argv: ['sh', '-c', SNAPSHOT, 'snapshot', String(this.#snapshots)],
      cwd: this.#root,
      env: GIT_ENV,
    })
  }

  /** Notes the present as what {@link restore} goes back to. */
  markBefore(): void {
    this.commit()
    run(this.command('update-ref', 'refs/bench/before', 'HEAD'))
  }

  /** @param isDurable waits until what was written would survive a power cut, as ours has when it ends */
  restore(isDurable: boolean): Sample {
    this.#snapshots++
    return run({
      argv: ['sh', '-c', isDurable ? `${RESTORE} && sync -f .` : RESTORE, 'restore', String(this.#snapshots)],
      cwd: this.#root,
      env: GIT_ENV,
    })
  }

  /** `git add -A` of this tree into another, empty repository. */
  addToEmpty(gitFolder: string): Sample {
    const env = { ...GIT_ENV, GIT_DIR: gitFolder, GIT_WORK_TREE: this.#root }
    run({ argv: ['git', 'init', '-q'], cwd: this.#root, env })
    return run({ argv: ['git', 'add', '-A'], cwd: this.#root, env })
  }

  gc(): void {
    run(this.command('gc', '-q', '--prune=now'))
  }

  objects(): Size {
    return sizeOf(join(this.#root, '.git/objects'))
  }
}

/** Null when it is not installed. */
export function findRestic(): { version: string } | null {
  const { status, stdout } = spawnSync('restic', ['version'], { encoding: 'utf8' })
  return status === 0 ? { version: stdout.trim() } : null
}

export const HOW_TO_GET_RESTIC =
  'restic is not installed: `apt-get install restic` (Debian), `brew install restic`, or https://restic.net'

export class Restic {
  readonly #repository: string
  readonly #root: string
  readonly #env: Record<string, string>

  constructor(root: string, folder: string) {
    this.#root = root
    this.#repository = join(folder, 'repository')
    mkdirSync(folder, { recursive: true })
    this.#env = {
      PATH: process.env.PATH ?? '',
      HOME: folder,
      RESTIC_CACHE_DIR: join(folder, 'cache'),
      RESTIC_PASSWORD: 'bench',
      RESTIC_REPOSITORY: this.#repository,
    }
    run({ argv: ['restic', 'init', '-q'], cwd: root, env: this.#env })
  }

  /** Leaves out what git leaves out, and git's own folder. */
  backup(): Sample {
    const leftOut = ['--exclude', 'node_modules', '--exclude', '.git']
    return run({ argv: ['restic', 'backup', '-q', ...leftOut, '.'], cwd: this.#root, env: this.#env })
  }

  /** @param files relative to the root; null for all */
  restore(files: readonly string[] | null): Sample {
    const chosen = files?.flatMap((file) => ['--include', `/${file}`]) ?? []
    return run({
      argv: ['restic', 'restore', '-q', 'latest', '--target', this.#root, ...chosen],
      cwd: this.#root,
      env: this.#env,
    })
  }

  size(): Size {
    return sizeOf(this.#repository)
  }
}
