import { createInterface } from 'node:readline/promises'
import { DomainError } from '@turnback/core'
import { makeCaller } from '#sync/caller.ts'
import { enroll, isOpenToReaders, type Login, parseEnrollmentLink } from '#sync/login.ts'
import { changePolicy, isPolicySet, loadPolicy, parseChange } from '#sync/policy.ts'
import { fingerprintOf } from '#sync/status.ts'
import type { Context, Register } from './context.ts'

interface LoginOptions {
  readonly code?: string
  readonly name?: string
  readonly policy?: string
}

export const register: Register = (program, context) => {
  program
    .command('login')
    .argument('<url>', 'the link from the machines page, or the address of the service')
    .option('--code <code>', 'the one-time code, when the link does not hold it; - reads it from stdin')
    .option('--name <name>', 'how the machine is called there')
    .option('--policy <value>', 'who may have this machine restore: off, ask or owner')
    .description('enrol this machine at a Turnback service')
    .action(async (url: string, options: LoginOptions) => {
      const login = await logIn(context, url, options)
      await settlePolicy(context, options.policy)
      tell(context, login)
    })
}

async function logIn(context: Context, url: string, options: LoginOptions): Promise<Login> {
  const { deps } = context
  const link = parseEnrollmentLink(url)
  // Refused before the code is used up.
  if (options.policy !== undefined) parseChange(loadPolicy(deps.home), 'remote', options.policy)
  const code = link.code ?? (await readCode(context, options.code))
  if (isOpenToReaders(link.server)) {
    context.talk(
      `Warning: ${link.server.origin} is plain http; others on the way can read what is not sealed.`,
    )
  }
  const identity = deps.identity()
  const parts = {
    server: link.server,
    clock: deps.clock,
    random: deps.random,
    signer: identity,
    bearer: null,
  }
  const caller = makeCaller(parts)
  try {
    const login = await enroll({ caller, identity, clock: deps.clock, home: deps.home }, code, options.name)
    deps.log.markAllUnpushed(true)
    return login
  } finally {
    caller.close()
  }
}

async function readCode(context: Context, given: string | undefined): Promise<string> {
  if (given !== undefined && given !== '-') return given
  const typed = given === '-' ? await context.readStdin() : await ask('One-time code: ')
  const code = typed?.trim() ?? ''
  if (code === '')
    throw new DomainError('USAGE', {}, { message: 'A one-time code is needed: --code, or the whole link.' })
  return code
}

/** Asked once, on a terminal; without one the careful answer is taken. */
async function settlePolicy(context: Context, given: string | undefined): Promise<void> {
  const { home } = context.deps
  if (given !== undefined) {
    changePolicy(home, 'remote', given)
    return
  }
  if (isPolicySet(home)) return
  changePolicy(home, 'remote', context.isJson ? 'ask' : await askForPolicy(context))
}

async function askForPolicy(context: Context): Promise<string> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return 'ask'
  context.talk(
    [
      'Who may have this machine rewind its folders from the browser or a phone?',
      '  owner  you, signed in: one tap is enough (recommended)',
      '  ask    nobody without a word at this keyboard',
      '  off    nobody',
    ].join('\n'),
  )
  const answer = ((await ask('owner, ask or off [owner]: ')) ?? '').trim() || 'owner'
  if (['owner', 'ask', 'off'].includes(answer)) return answer
  return askForPolicy(context)
}

/** Null without a terminal. */
async function ask(question: string): Promise<string | null> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return null
  const reader = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return await reader.question(question)
  } finally {
    reader.close()
  }
}

function tell(context: Context, login: Login): void {
  const { deps } = context
  const fingerprint = fingerprintOf(deps.identity().publicKey)
  const policy = loadPolicy(deps.home)
  const result = {
    server: login.server,
    machine: login.machine,
    fingerprint,
    owner: login.owner,
    project: login.defaultProject,
    policy,
    keys: deps.home.keys,
  }
  context.print(result, () =>
    [
      `logged in at ${login.server} as ${login.owner.name} <${login.owner.email}>`,
      `this machine: ${login.machine}, key ${fingerprint} (kept in ${deps.home.keys}, readable by you alone)`,
      `restores from afar: ${policy.remote} (change with \`turnback policy set remote …\`)`,
      'start `turnback connect` to send turns as they end',
    ].join('\n'),
  )
}
