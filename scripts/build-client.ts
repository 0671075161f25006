/*
 * Bundles the command line, because loading some three hundred files takes longer than a capture. `bin/turnback` takes
 * the bundle only while no source is newer than it, so a bundle is never needed and never wrong: at worst it is absent.
 *
 *     packages/agent-client/dist/current      name of the build in use; its time is what sources are compared with
 *     packages/agent-client/dist/b-…/         quick.js (what agents wait for), main.js (all), the threads' files, cache/
 *
 * Each build has a folder of its own: a process that was started from one may load more of it hours later.
 */
import {
  globSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { type OutputOptions, type Plugin, rolldown } from 'rolldown'
import { parseAst } from 'rolldown/parseAst'

const root = resolve(import.meta.dirname, '..')
const client = join(root, 'packages/agent-client')
const current = join(client, 'dist/current')

/** What the launcher compares too: see is_bundled in bin/turnback. */
const SOURCES = [
  'packages/{agent-client,core}/src',
  'packages/{agent-client,core}/src/*',
  'packages/{agent-client,core}/src/*/*.ts',
  'packages/agent-client/src/adapters/*',
  'packages/agent-client/src/adapters/*/*',
  'packages/agent-client/package.json',
  'pnpm-lock.yaml',
  'scripts/build-client.ts',
]
/** Clocks of some file systems, and comparisons of some shells, know whole seconds only. */
const CLOCK_MS = 1000
/** Residents live long, and load what they need late. */
const KEPT_MS = 7 * 24 * 3_600_000

/** True when no source is newer than the bundle. */
export function isClientBuilt(): boolean {
  const built = statSync(current, { throwIfNoEntry: false })?.mtimeMs
  if (built === undefined) return false
  return globSync(SOURCES, { cwd: root }).every((file) => statSync(join(root, file)).mtimeMs <= built)
}

/**
 * @param dist where builds are kept
 * @throws what the bundler finds wrong
 */
export async function buildClient(dist: string = join(client, 'dist')): Promise<void> {
  assertFlat()
  const startedMs = Date.now() - CLOCK_MS
  const name = `b-${startedMs.toString(36)}-${process.pid}`
  const folder = join(dist, name)
  mkdirSync(folder, { recursive: true })
  const threads = { 'read-worker': 'worktree/read-worker.ts', 'secret-worker': 'crypto/secret-worker.ts' }
  // Apart, because a file that both use would hold what only main needs of it.
  await bundle(folder, 'quick-', { all: 'quick.ts' }, [mainIsThere, quickStaysSmall])
  await bundle(folder, 'main-', { all: 'main.ts' })
  await bundle(folder, '', threads)
  // The cache has to be on before the file that it is for is read.
  for (const entry of ['quick', 'main'])
    writeFileSync(
      join(folder, `${entry}.js`),
      `require('node:module').enableCompileCache(__dirname + '/cache')\nrequire('./${entry}-all.js')\n`,
    )
  writeFileSync(join(folder, 'package.json'), '{ "type": "commonjs" }\n')
  const pointer = join(folder, 'current')
  writeFileSync(pointer, `${name}\n`)
  utimesSync(pointer, startedMs / 1000, startedMs / 1000)
  renameSync(pointer, join(dist, 'current'))
  removeOld(dist, name)
}

async function bundle(
  folder: string,
  prefix: string,
  entries: Record<string, string>,
  more: Plugin[] = [],
): Promise<void> {
  const input = Object.fromEntries(
    Object.entries(entries).map(([name, file]) => [name, join(client, 'src', file)]),
  )
  const build = await rolldown({
    input,
    cwd: client,
    platform: 'node',
    // The other form of jsonc-parser asks for its parts in a way that no bundler sees.
    resolve: { mainFields: ['module', 'main'] },
    plugins: [...more, unusedSchemasGo, builtInsComeLate],
    treeshake: { moduleSideEffects: false },
    onLog(level, log) {
      if (level === 'warn') throw new Error(log.message)
    },
  })
  const output: OutputOptions = {
    dir: folder,
    // Loads quicker than modules do.
    format: 'cjs',
    comments: false,
    entryFileNames: `${prefix}[name].js`,
    chunkFileNames: `${prefix}[name]-[hash].js`,
  }
  await build.write(output)
  await build.close()
}

const mainIsThere: Plugin = {
  name: 'main-is-there',
  resolveId: { filter: { id: /^\.\/main\.ts$/ }, handler: () => ({ id: './main.js', external: true }) },
}

/** What agents wait for needs none of these, and each takes longer to load than a turn's begin. */
const HEAVY =
  /node_modules[\\/](?:commander|jsonc-parser|smol-toml|@modelcontextprotocol|@agentclientprotocol)[\\/]/

const quickStaysSmall: Plugin = {
  name: 'quick-stays-small',
  load: {
    filter: { id: HEAVY },
    handler: (id) => {
      throw new Error(`quick.ts leads to ${id}`)
    },
  },
}

/** A schema that nobody uses is left out, and with the last of them zod. By itself the bundler cannot know that making one does nothing. */
const unusedSchemasGo: Plugin = {
  name: 'unused-schemas-go',
  transform: {
    filter: { id: /packages\/(?:core|agent-client)\/src\/.*\.ts$/, code: /from 'zod'/ },
    handler(code) {
      const calls = parseAst(code, { lang: 'ts' }).body.flatMap((statement) => {
        const made = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
        if (made?.type !== 'VariableDeclaration') return []
        return made.declarations.flatMap(({ init }) => (init?.type === 'CallExpression' ? [init] : []))
      })
      return calls.reduceRight(
        (text, { start, end }) =>
          `${text.slice(0, start)}/* @__PURE__ */ (() => (${text.slice(start, end)}))()${text.slice(end)}`,
        code,
      )
    },
  },
}

const LATE =
  /^(?:const|let) (node_\w+) = require\("(node:(?:child_process|crypto|net|os|sqlite|tty|worker_threads|zlib))"\);$/gm

/** Parts of Node that take milliseconds to load are loaded when the first of their functions is. */
const builtInsComeLate: Plugin = {
  name: 'built-ins-come-late',
  renderChunk: (code) =>
    code.replace(LATE, (line, name: string, part: string) => {
      // Taken as a whole: for a default import its parts are copied.
      if (code.includes(`\n${name} = `)) return line
      return `const ${name} = new Proxy({}, { get: (_, key) => require("${part}")[key] });`
    }),
}

/** The launcher looks at folders and their files, no deeper but in adapters/. */
function assertFlat(): void {
  const adapters = 'packages/agent-client/src/adapters/'
  const deeper = [
    ...globSync('packages/{agent-client,core}/src/*/*/*', { cwd: root }).filter(
      (file) => !file.startsWith(adapters),
    ),
    ...globSync(`${adapters}*/*/*`, { cwd: root }),
  ]
  if (deeper.length > 0) throw new Error(`bin/turnback would not see that this changes: ${deeper[0]}`)
}

function removeOld(dist: string, name: string): void {
  for (const other of readdirSync(dist)) {
    const path = join(dist, other)
    if (other === name || other === basename(current)) continue
    if (Date.now() - statSync(path).mtimeMs > KEPT_MS) rmSync(path, { recursive: true, force: true })
  }
}

if (import.meta.main) {
  const [how, into] = process.argv.slice(2)
  try {
    if (how === '--into') await buildClient(resolve(into ?? ''))
    else if (!isClientBuilt()) await buildClient()
  } catch (error) {
    // An installation without it works; it only starts more slowly.
    console.error(`The command line is not bundled and starts from its sources: ${String(error)}`)
    if (how !== undefined) process.exitCode = 1
  }
}
