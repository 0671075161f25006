/*
 * `pnpm test`: everything that must hold, in the order in which a failure is cheapest to read. A step that fails does
 * not end the run. Step names as arguments run those only: `pnpm test unit types`.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { provideChromium } from './chromium.ts'
import { type Counts, countCheck, countPlaywright, countVitest } from './test-counts.ts'

interface Step {
  name: string
  commands: () => string[][]
  count: (report: string | null, exitCode: number) => Counts
  /** Why there is nothing to run yet, if so. */
  absent?: string | undefined
}

const root = resolve(import.meta.dirname, '..')
const reports = mkdtempSync(join(tmpdir(), 'turnback-test-'))
const env: NodeJS.ProcessEnv = {
  ...process.env,
  PATH: [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter),
  PLAYWRIGHT_JSON_OUTPUT_FILE: reportOf('browser'),
}

const specs = globSync('e2e/**/*.spec.ts', { cwd: root, exclude: ['**/node_modules/**'] })
const noSpecs = specs.length === 0 ? 'e2e/ has no spec files' : undefined

const check = (_report: string | null, exitCode: number) => countCheck(exitCode)

const steps: Step[] = [
  { name: 'lint', commands: () => [['biome', 'check', '.']], count: check },
  {
    name: 'types',
    commands: () => [
      ['tsc', '--noEmit', '-p', 'tsconfig.json'],
      [...pnpm(), '-r', '--no-bail', 'run', 'typecheck'],
    ],
    count: check,
  },
  { name: 'dead-code', commands: () => [['knip', '--no-config-hints']], count: check },
  { name: 'unit', commands: () => [vitest('unit')], count: countVitest },
  // What is started by bin/turnback is then what people run.
  {
    name: 'client-build',
    commands: () => [[process.execPath, 'scripts/build-client.ts', '--strict']],
    count: check,
  },
  { name: 'integration', commands: () => [vitest('integration')], count: countVitest },
  // Real agents against stand-ins for their models: two of them here, all of them by `pnpm test:agents`.
  {
    name: 'agents',
    commands: () => [
      [process.execPath, 'e2e/agents/fetch-programs.ts', 'claude-code', 'codex'],
      vitest('agents'),
    ],
    count: countVitest,
  },
  {
    name: 'web-build',
    commands: () => [[process.execPath, 'scripts/build-web.ts']],
    count: check,
    absent: noSpecs,
  },
  { name: 'browser', commands: playwright, count: countPlaywright, absent: noSpecs },
]

function vitest(project: string): string[] {
  const json = ['--reporter=json', `--outputFile.json=${reportOf(project)}`]
  return ['vitest', 'run', '--project', project, '--reporter=default', ...json]
}

function playwright(): string[][] {
  const config = 'e2e/playwright.config.ts'
  // Playwright would run the specs without a configuration, against nothing.
  if (!existsSync(join(root, config))) throw new Error(`e2e/ has spec files but ${config} is missing`)
  const chromium = provideChromium()
  if (chromium) env.TURNBACK_CHROMIUM = chromium
  return [
    [join(root, 'e2e/node_modules/.bin/playwright'), 'test', '--config', config, '--reporter=list,json'],
  ]
}

/** pnpm itself says where it is when it runs this; otherwise the one in PATH, otherwise npx gets it. */
function pnpm(): string[] {
  const own = process.env.npm_execpath
  if (own && /pnpm[^/\\]*$/.test(own)) return /\.[cm]?js$/.test(own) ? [process.execPath, own] : [own]
  return spawnSync('pnpm', ['--version']).status === 0 ? ['pnpm'] : ['npx', '-y', 'pnpm@12']
}

function reportOf(step: string): string {
  return join(reports, `${step}.json`)
}

/** Output goes straight through, so that colours and progress stay. */
function execute([command = '', ...args]: string[]): Promise<number> {
  return new Promise((done) => {
    const child = spawn(command, args, { cwd: root, env, stdio: 'inherit' })
    child.once('error', (error) => {
      console.log(`${command}: ${error.message}`)
      done(1)
    })
    child.once('exit', (code) => done(code ?? 1))
  })
}

async function runStep(step: Step): Promise<Counts> {
  let exitCode = 0
  try {
    for (const command of step.commands()) exitCode = (await execute(command)) || exitCode
  } catch (error) {
    console.log(error instanceof Error ? error.message : error)
    exitCode = 1
  }
  const report = reportOf(step.name)
  return step.count(existsSync(report) ? readFileSync(report, 'utf8') : null, exitCode)
}

const seconds = (since: number) => `${((performance.now() - since) / 1000).toFixed(1)} s`

async function runSteps(wanted: Step[]): Promise<Counts> {
  const total: Counts = { passed: 0, failed: 0, skipped: 0 }
  const lines: string[] = []
  for (const step of wanted) {
    console.log(`\n━━ ${step.name}`)
    const since = performance.now()
    const counts = step.absent ? { passed: 0, failed: 0, skipped: 0 } : await runStep(step)
    total.passed += counts.passed
    total.failed += counts.failed
    total.skipped += counts.skipped
    const said = step.absent ?? `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`
    lines.push(
      `${counts.failed > 0 ? '✗' : step.absent ? '–' : '✓'} ${step.name.padEnd(12)} ${said} (${seconds(since)})`,
    )
    console.log(lines.at(-1))
  }
  console.log(`\n━━ summary\n${lines.join('\n')}`)
  return total
}

async function main(names: string[]): Promise<void> {
  const unknown = names.filter((name) => !steps.some((step) => step.name === name))
  if (unknown.length > 0) {
    console.error(
      `no step named ${unknown.join(', ')}; there are: ${steps.map((step) => step.name).join(', ')}`,
    )
    process.exitCode = 2
    return
  }
  const since = performance.now()
  const total = await runSteps(names.length > 0 ? steps.filter((step) => names.includes(step.name)) : steps)
  console.log(`took ${seconds(since)}`)
  console.log(`${total.passed} passed, ${total.failed} failed`)
  process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0
}

try {
  await main(process.argv.slice(2))
} finally {
  rmSync(reports, { recursive: true, force: true })
}
