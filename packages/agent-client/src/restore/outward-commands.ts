import { splitCommands } from './shell-words.ts'

/** Programs some of whose commands reach beyond the files of the tree. */
interface Rule {
  readonly programs: string
  /** The command of the program that does it; any when not given. */
  readonly verbs?: string
  /** And of these the next word. */
  readonly then?: string
  /** One of its options has to be this. */
  readonly option?: RegExp
}

const GLOBAL = /^(?:-g|--global|--location=global)$/
const SENDS =
  /^(?:-X(?:POST|PUT|PATCH|DELETE)|--request=?(?:POST|PUT|PATCH|DELETE)|-[dFT].*|--(?:data|form|upload-file|json|post|body|method=P).*)$/

const RULES: readonly Rule[] = [
  // The repository: commits, refs and what is stashed lie in .git, which no restore touches.
  {
    programs: 'git',
    verbs: 'push commit merge rebase reset pull cherry-pick revert am stash tag filter-branch',
  },
  { programs: 'git', verbs: 'branch', option: /^-[dDmM]$/ },
  {
    programs: 'gh glab',
    verbs: 'pr mr issue release repo gist secret workflow',
    then: 'create merge close reopen edit delete comment review run set upload',
  },
  { programs: 'gh glab', verbs: 'api', option: /^(?:-X|--method)/ },
  // Packages and images that others get.
  {
    programs: 'npm pnpm yarn bun cargo gem twine poetry uv hatch flit lerna vsce',
    verbs: 'publish unpublish upload push deprecate yank',
  },
  { programs: 'docker podman buildah skopeo helm oras', verbs: 'push copy' },
  // Deployments and machines.
  { programs: 'terraform tofu terragrunt pulumi cdk sst', verbs: 'apply destroy up deploy import' },
  {
    programs: 'kubectl oc helm argocd flux',
    verbs:
      'apply create delete install upgrade uninstall rollback rollout scale patch replace edit exec sync',
  },
  {
    programs: 'serverless eb kamal fly flyctl vercel netlify wrangler firebase heroku railway',
    verbs: 'deploy publish delete up rollback redeploy secret secrets',
  },
  { programs: 'aws gcloud az doctl hcloud ansible ansible-playbook ssh scp sftp rsync' },
  {
    programs: 'systemctl service launchctl supervisorctl pm2',
    verbs: 'start stop restart reload enable disable load unload mask delete',
  },
  // Databases.
  { programs: 'prisma', verbs: 'migrate db' },
  { programs: 'drizzle-kit', verbs: 'push migrate drop' },
  {
    programs: 'alembic flyway liquibase dbmate goose migrate atlas diesel sqlx',
    verbs:
      'upgrade downgrade migrate migration clean undo update rollback up down deploy revert database schema drop redo',
  },
  {
    programs: 'manage.py artisan',
    verbs: 'migrate migrate:fresh migrate:refresh migrate:rollback db:wipe db:seed flush loaddata',
  },
  {
    programs: 'rails rake',
    verbs: 'db:migrate db:rollback db:seed db:drop db:create db:reset db:setup db:schema:load',
  },
  {
    programs: 'knex sequelize sequelize-cli',
    verbs:
      'migrate:latest migrate:up migrate:down migrate:rollback db:migrate db:migrate:undo db:seed db:seed:all db:drop seed:run',
  },
  { programs: 'typeorm', verbs: 'migration:run migration:revert schema:sync schema:drop' },
  { programs: 'mix', verbs: 'ecto.migrate ecto.rollback ecto.drop ecto.reset ecto.setup' },
  { programs: 'supabase hasura', verbs: 'db migrate migration' },
  {
    programs: 'psql mysql mariadb mongosh mongo redis-cli sqlcmd cqlsh pg_restore createdb dropdb mysqladmin',
  },
  // What is sent somewhere.
  { programs: 'curl wget', option: SENDS },
  { programs: 'http https xh', verbs: 'POST PUT PATCH DELETE' },
  { programs: 'mail mailx sendmail mutt msmtp' },
  // Programs for everybody on the machine, and what lies where no scan looks.
  { programs: 'npm pnpm bun', verbs: 'install i add uninstall remove rm update up link', option: GLOBAL },
  { programs: 'npm pnpm yarn bun', verbs: 'link' },
  { programs: 'yarn composer', verbs: 'global', then: 'add remove upgrade require update' },
  { programs: 'dotnet uv', verbs: 'tool pip', then: 'install uninstall update upgrade' },
  {
    programs:
      'pip pip3 pipx conda mamba gem cargo go brew rustup nvm fnm pyenv asdf mise snap flatpak apt apt-get dnf yum zypper apk port choco scoop winget volta',
    verbs: 'install uninstall remove purge upgrade update add del',
  },
  { programs: 'pacman dpkg rpm', option: /^-[SRUei]/ },
  { programs: 'code cursor codium', option: /^--(?:un)?install-extension$/ },
  { programs: 'crontab', option: /^-[er]$/ },
]

/** The programs' words are looked up for each command, so they are sorted by program once. */
const BY_PROGRAM = new Map<string, Rule[]>()
for (const rule of RULES)
  for (const program of rule.programs.split(' '))
    BY_PROGRAM.set(program, [...(BY_PROGRAM.get(program) ?? []), rule])

/** What may stand before the program that does something; options of it too. */
const BEFORE = new Set(
  'sudo doas env time nohup nice ionice command exec builtin setsid stdbuf timeout xargs npx bunx uvx then do else if while ! python python3 php ruby node'.split(
    ' ',
  ),
)
/** And those that need a word of their own to run another. */
const RUNNERS = new Map(
  Object.entries({
    ...{ pnpm: 'dlx exec run', yarn: 'dlx exec run', npm: 'exec x', bun: 'x', poetry: 'run', uv: 'run' },
    ...{ pipenv: 'run', bundle: 'exec', rye: 'run', mise: 'exec x', direnv: 'exec' },
  }).map(([program, words]) => [program, new Set(words.split(' '))]),
)
const SHELLS = new Set(['sh', 'bash', 'zsh', 'dash', 'ksh', 'fish'])

/** More of a line is not looked at: whoever writes one so long hides nothing by it that mattered here. */
const LINE_CHARACTERS = 20_000
const DEPTH = 4

/**
 * What of a command's doing lies outside the tree, in the first words of it: never its arguments, which may be secret.
 * Empty when nothing is known to.
 */
export function findOutward(line: string, depth = 0): string[] {
  const found = new Set<string>()
  for (const words of splitCommands(line.slice(0, LINE_CHARACTERS))) {
    const command = withoutBefore(words)
    const text = textThatIsRun(command)
    if (text !== null && depth < DEPTH) for (const inner of findOutward(text, depth + 1)) found.add(inner)
    const said = judge(command)
    if (said !== null) found.add(said)
  }
  return [...found]
}

function judge([first = '', ...rest]: readonly string[]): string | null {
  const program = first.slice(first.lastIndexOf('/') + 1)
  for (const { verbs, then, option } of BY_PROGRAM.get(program) ?? []) {
    if (option !== undefined && !hasOption(rest, option)) continue
    const at = verbs === undefined ? -1 : findVerb(rest, verbs.split(' '))
    if (at === null) continue
    const said = [program, ...(at < 0 ? [] : [rest[at] ?? ''])]
    if (then === undefined) return [...said, ...(option === GLOBAL ? ['-g'] : [])].join(' ')
    const next = rest.slice(at + 1).find((word) => !word.startsWith('-')) ?? ''
    if (then.split(' ').includes(next)) return [...said, next].join(' ')
  }
  return null
}

/** `-X POST` is read as `-XPOST`. */
function hasOption(rest: readonly string[], option: RegExp): boolean {
  return rest.some(
    (word, i) => word.startsWith('-') && (option.test(word) || option.test(word + (rest[i + 1] ?? ''))),
  )
}

/** The first word that is no option, or one after it as long as those before may have been options' values. */
function findVerb(rest: readonly string[], verbs: readonly string[]): number | null {
  for (const [i, word] of rest.entries()) {
    if (word.startsWith('-')) continue
    if (verbs.includes(word)) return i
    if (!(rest[i - 1] ?? '').startsWith('-')) return null
  }
  return null
}

function withoutBefore(words: readonly string[]): readonly string[] {
  let at = 0
  for (let word = words[0]; word !== undefined; word = words[at]) {
    if (/^\w+=/.test(word) || BEFORE.has(word)) at++
    else if (RUNNERS.get(word)?.has(words[at + 1] ?? '') === true) at += 2
    else break
    // Options of what stands before, and what times and priorities they have.
    while (/^(?:-|\d+\w?$)/.test(words[at] ?? '')) at++
  }
  return words.slice(at)
}

function textThatIsRun([program = '', ...rest]: readonly string[]): string | null {
  if (program === 'eval') return rest.join(' ')
  if (!SHELLS.has(program.slice(program.lastIndexOf('/') + 1))) return null
  const at = rest.findIndex((word) => /^-\w*c$/.test(word))
  return at < 0 ? null : (rest[at + 1] ?? null)
}
