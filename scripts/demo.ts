/*
 * `pnpm demo`: the service with a sample project beside it, in which a pretend agent has just done too much. Everything
 * lies in one temporary folder, which goes when the demo ends; the client gets a home of its own there too.
 */
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { bold, dim, say, step } from './progress.ts'
import { startService } from './service.ts'
import { type Supervisor, supervise } from './supervisor.ts'

const root = resolve(import.meta.dirname, '..')
const sample = join(root, 'scripts/sample.sh')
const program = join(root, 'bin/turnback')
const PROMPT = 'Give the page a dark look, and make it work on my laptop'

/** What demo-api.ts says before it is ready. */
interface Entrance {
  readonly email: string
  readonly password: string
  readonly loginLink: string
  readonly enrollmentLink: string
}

await supervise(async (supervisor) => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'turnback-demo-')))
  chmodSync(folder, 0o711) // as root, the database runs under an account that has to pass through
  // With tries: after a crash a database may still be writing its last words.
  supervisor.atEnd(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }))

  const entrance = await startDemoService(supervisor, join(folder, 'service'))
  const project = join(folder, 'harbour')
  const machine = makeMachine(folder)
  await step('Making the sample project', () => run('sh', [sample, 'setup', project], machine))
  await step('Connecting a capture client', () => connect(supervisor, entrance, machine, folder))
  await step('Letting the pretend agent work in it', () => playTurn(project, machine))
  await step('Waiting until the service has the turn', () => run(program, ['push'], machine, project))

  tell(project, entrance, machine)
  await supervisor.untilEnd()
})

async function startDemoService(supervisor: Supervisor, dataDir: string): Promise<Entrance> {
  const password = randomBytes(9).toString('base64url')
  let said: string | null = null
  await startService(supervisor, {
    dataDir,
    api: 'scripts/demo-api.ts',
    env: { DEMO_PASSWORD: password },
    isSecret: (line) => line.startsWith('demo '),
    onLine: (line) => {
      if (line.startsWith('demo ')) said = line.slice('demo '.length)
    },
  })
  const entrance: unknown = JSON.parse(said ?? 'null')
  const read = (name: string) => {
    const value: unknown =
      typeof entrance === 'object' && entrance !== null ? Reflect.get(entrance, name) : undefined
    if (typeof value !== 'string') throw new Error(`The demo's API said no ${name}.`)
    return value
  }
  return {
    email: read('email'),
    password,
    loginLink: read('loginLink'),
    enrollmentLink: read('enrollmentLink'),
  }
}

interface Machine {
  readonly env: NodeJS.ProcessEnv
  readonly logFile: string
}

function makeMachine(folder: string): Machine {
  const home = join(folder, 'home')
  mkdirSync(home)
  const { PATH, LANG, TERM } = process.env
  return {
    env: { PATH, LANG, TERM, HOME: home, TURNBACK_HOME: join(home, 'turnback') },
    logFile: join(folder, 'client.log'),
  }
}

/** Runs a program to its end. @throws with all that it said when it does not exit with 0 */
function run(command: string, args: readonly string[], machine: Machine, cwd = root): Promise<string> {
  const child = spawn(command, args, { cwd, env: machine.env, stdio: ['ignore', 'pipe', 'pipe'] })
  let out = ''
  let all = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
    all += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    all += text
  })
  return new Promise((done, fail) => {
    child.once('error', fail)
    child.once('close', (code) =>
      code === 0
        ? done(out)
        : fail(new Error(`${[command, ...args].join(' ')} failed (exit ${code}):\n${all}`)),
    )
  })
}

async function connect(
  supervisor: Supervisor,
  entrance: Entrance,
  machine: Machine,
  folder: string,
): Promise<void> {
  await run(program, ['login', entrance.enrollmentLink], machine)
  // Whoever sees the demo's link is this machine's owner: one tap is enough.
  await run(program, ['policy', 'set', 'remote', 'owner'], machine)
  supervisor.start({
    name: 'capture client',
    command: [program, 'connect', '--foreground'],
    cwd: folder,
    env: machine.env,
    logFile: machine.logFile,
  })
}

async function playTurn(project: string, machine: Machine): Promise<void> {
  const turn = ['--session', 'sample', '--turn', '1']
  await run(program, ['begin', ...turn, '--agent', 'sample-agent', '--prompt', PROMPT], machine, project)
  await run('sh', [sample, 'turn', project], machine)
  await run(program, ['end', ...turn], machine, project)
}

function tell(project: string, entrance: Entrance, machine: Machine): void {
  const shell = `export TURNBACK_HOME=${machine.env.TURNBACK_HOME}`
  say(`
${bold('Turnback is ready.')} Open this, it signs you in (once, within ten minutes):

    ${bold(entrance.loginLink)}

Later: ${entrance.email}, password ${entrance.password}

A pretend agent was asked to "${PROMPT}" in
    ${project}
and cut styles.css from 212 lines to 41, rewrote app.js, added theme.css, and pointed .env at localhost, which git would not
give back. What you had not committed, the page's title and notes.md, is in there too. Try:

  1. Open its turn and look at the diffs. Of .env you see that it changed, and no more: its bytes left the machine sealed.
  2. Press ${bold('Rewind')}. All is as it was before the turn; notes.md and your title were never touched.
  3. Press ${bold('Undo')} on the report: the agent's version is back.
  4. Change a file by hand, rewind again: your change is kept, and the report says so.
  5. The same from a terminal:
       ${shell}
       cd ${project}
       ${program} log        ${dim('# then: diff last · undo · redo')}

${dim(`Ctrl-C ends everything and removes ${project.slice(0, project.lastIndexOf('/'))}.`)}`)
}
