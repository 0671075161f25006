import { spawnSync } from 'node:child_process'
import { copyFileSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

/*
 * A boundary that a linter stopped judging looks exactly like one that nobody crosses. So each is crossed here
 * once, in a copy of the configuration, and the report is checked: for the crossing, and for silence beside it.
 */

const root = resolve(import.meta.dirname, '..')
const restricted = 'lint/style/noRestrictedImports'

const core = 'packages/core/src'
const client = 'packages/agent-client/src'
const api = 'apps/api/src'
const web = 'apps/web/src'

const acrossFolders = "Across folders use '#area/file.ts': these rules judge that string."
const zodOnly = 'core imports zod and itself, nothing else.'
const testsOnly = 'core/testing is for tests.'
const byIndex = 'A module is used through its index.ts.'
const noRoutes = 'ui/ knows no route and no API: pass values and callbacks in.'
const noFiles =
  "Files are touched by worktree/ (the user's), setup/ (the agents' settings), store/, crypto/, adapters/, resident/ and config.ts (ours) only; go through ports.ts."
const upwards = 'The flow is adapters → capture → store → sync; nothing calls back up.'
const portsOnly = 'capture/ and restore/ know ports.ts; concretes are wired in deps.ts.'
const below = 'worktree/, store/ and crypto/ stand below everything that uses them.'
const translateOnly = "Adapters translate an agent's words into events; they do not act."
const valuesOnly = 'An adapter is values: read-transcript.ts reads for all of them.'
const throughRestore = 'sync/ reaches the tree through restore/ only.'
const noSqlInRoutes = 'Routes touch no SQL: call the service.'
const callNobody = 'Queries call nobody: they take a connection and values.'
const dbAlone = 'db/ knows neither modules nor HTTP.'
const noPeers = 'Features never import features; app/ puts them together.'
const libBelow = 'lib/ stands below ui, features and app.'

/** [file that imports, what it imports, the message that must come]. */
const forbiddenImports: [file: string, specifier: string, message: string][] = [
  ...[
    `${core}/tree/a.ts`,
    `${core}/api/a.ts`,
    `${core}/testing/a.ts`,
    `${client}/cli/a.ts`,
    `${client}/capture/a.ts`,
    `${client}/restore/a.ts`,
    `${client}/worktree/a.ts`,
    `${client}/store/a.ts`,
    `${client}/crypto/a.ts`,
    `${client}/adapters/a.ts`,
    `${client}/sync/a.ts`,
    `${client}/config.ts`,
    `${api}/jobs/a.ts`,
    `${api}/db/a.ts`,
    `${api}/modules/m/routes.ts`,
    `${api}/modules/m/service.ts`,
    `${api}/modules/m/queries.ts`,
    `${web}/ui/a.tsx`,
    `${web}/lib/a.ts`,
    `${web}/features/turns/a.tsx`,
    `${web}/app/a.tsx`,
    `${core}/tree/a.test.ts`,
    'packages/core/test/a.test.ts',
    'e2e/journeys/a.spec.ts',
    'e2e/playwright.config.ts',
  ].map((file): [string, string, string] => [file, '../other/b.ts', acrossFolders]),
  [`${core}/tree/b.ts`, './below/b.ts', acrossFolders],
  [`${web}/app/b.tsx`, '..', acrossFolders],

  ...['node:fs', 'fastify', '@turnback/api', 'zod/v3', 'fast-check', 'react'].map(
    (name, n): [string, string, string] => [`${core}/tree/only-zod-${n}.ts`, name, zodOnly],
  ),
  [`${core}/api/only-zod.ts`, 'fastify', zodOnly],
  [`${core}/testing/only-zod.ts`, 'node:fs', 'core/testing imports zod, fast-check, vitest and core.'],
  ...[
    'ids.ts',
    'errors.ts',
    'limits.ts',
    'path/p.ts',
    'tree/p.ts',
    'manifest/p.ts',
    'blob/p.ts',
    'history/p.ts',
    'restore/p.ts',
    'command/p.ts',
    'memory/p.ts',
    'text/p.ts',
  ].map((file): [string, string, string] => [
    `${core}/${file}`,
    '#api/turns.ts',
    'The wire contract imports core, never the reverse.',
  ]),
  [`${core}/tree/t.ts`, '#testing/index.ts', testsOnly],
  [`${core}/api/t.ts`, '#testing/index.ts', testsOnly],
  ...[
    `${client}/capture/t.ts`,
    `${client}/store/t.ts`,
    `${api}/http/t.ts`,
    `${api}/objects/t.ts`,
    `${web}/lib/t.ts`,
  ].map((file): [string, string, string] => [file, '@turnback/core/testing', testsOnly]),

  [`${api}/jobs/b.ts`, '#modules/turns/queries.ts', byIndex],
  [`${api}/modules/m/other-routes.ts`, '#modules/turns/service.ts', byIndex],
  [`${api}/modules/m/other-service.ts`, '#modules/turns/queries.ts', byIndex],
  ...[
    '#db/client.ts',
    '#db/schema/turns.ts',
    'drizzle-orm',
    'drizzle-orm/pg-core',
    'postgres',
    './queries.ts',
  ].map((name, n): [string, string, string] => [`${api}/modules/m${n}/routes.ts`, name, noSqlInRoutes]),
  [`${api}/modules/n/service.ts`, 'drizzle-orm', 'SQL stands in queries.ts.'],
  [`${api}/modules/o/service.ts`, '#db/schema/turns.ts', 'SQL stands in queries.ts.'],
  [`${api}/modules/p/service.ts`, 'fastify', 'Services know no HTTP.'],
  [`${api}/modules/n/queries.ts`, '#http/errors.ts', 'Queries know no HTTP.'],
  [`${api}/modules/o/queries.ts`, 'fastify', 'Queries know no HTTP.'],
  [`${api}/modules/p/queries.ts`, '#modules/turns/index.ts', callNobody],
  [`${api}/modules/q/queries.ts`, './service.ts', callNobody],
  [`${api}/db/b.ts`, '#modules/turns/index.ts', dbAlone],
  [`${api}/db/c.ts`, 'fastify', dbAlone],

  ...['#features/turns/row.tsx', '#lib/api.ts', '#app/page.tsx', '@turnback/core/api', 'next/navigation'].map(
    (name, n): [string, string, string] => [`${web}/ui/b${n}.tsx`, name, noRoutes],
  ),
  [`${web}/features/turns/b.tsx`, '#features/diff/view.tsx', noPeers],
  [`${web}/features/turns/c.tsx`, '#app/page.tsx', 'app/ imports features, never the reverse.'],
  [`${web}/lib/b.ts`, '#features/turns/row.tsx', libBelow],
  [`${web}/lib/c.ts`, '#ui/button.tsx', libBelow],

  ...['capture', 'restore', 'cli', 'memory', 'sync', 'some-new-folder'].map(
    (folder): [string, string, string] => [`${client}/${folder}/files.ts`, 'node:fs', noFiles],
  ),
  [`${client}/main.ts`, 'node:fs/promises', noFiles],
  ...['capture', 'restore'].flatMap((folder) =>
    ['#store/packs.ts', '#sync/push.ts', '#worktree/scan.ts', '#cli/undo.ts', '#resident/start.ts'].map(
      (name, n): [string, string, string] => [`${client}/${folder}/b${n}.ts`, name, portsOnly],
    ),
  ),
  [`${client}/capture/up.ts`, '#adapters/codex.ts', upwards],
  [`${client}/restore/up.ts`, '#deps.ts', upwards],
  ...['setup', 'task', 'chat', 'mcp', 'acp'].flatMap((folder): [string, string, string][] => [
    [`${client}/capture/${folder}.ts`, `#${folder}/a.ts`, upwards],
    [`${client}/store/${folder}.ts`, `#${folder}/a.ts`, below],
  ]),
  [`${client}/worktree/b.ts`, '#capture/begin.ts', below],
  [`${client}/store/b.ts`, '#sync/push.ts', below],
  [`${client}/crypto/b.ts`, '#cli/undo.ts', below],
  [`${client}/store/c.ts`, '#resident/start.ts', below],
  [`${client}/adapters/b.ts`, '#store/packs.ts', translateOnly],
  [`${client}/adapters/c.ts`, '#worktree/scan.ts', translateOnly],
  [`${client}/adapters/d.ts`, '#task/run-task.ts', translateOnly],
  [`${client}/adapters/codex/b.ts`, '#store/packs.ts', translateOnly],
  [`${client}/adapters/codex/c.ts`, 'node:fs', valuesOnly],
  [`${client}/adapters/codex/d.ts`, '../adapter.ts', acrossFolders],
  [`${client}/adapters/codex/e.ts`, '@turnback/core/testing', testsOnly],
  [`${client}/sync/b.ts`, '#worktree/scan.ts', throughRestore],
  [`${client}/sync/c.ts`, '#resident/start.ts', throughRestore],
]

const allowedImports: [file: string, specifiers: string[]][] = [
  [`${core}/tree/clean.ts`, ['zod', './diff.ts', '#path/rel-path.ts', '#ids.ts']],
  [`${core}/index.ts`, ['./ids.ts', '#tree/tree.ts']],
  [`${core}/api/clean.ts`, ['zod', './route.ts', '#manifest/manifest.ts']],
  [`${core}/testing/clean.ts`, ['zod', 'fast-check', 'vitest', '#tree/tree.ts', '#api/index.ts']],
  [`${core}/tree/clean.test.ts`, ['vitest', 'fast-check', 'node:fs', '#testing/index.ts', './tree.ts']],
  [`${api}/app.ts`, ['fastify', '#modules/turns/index.ts', '#db/client.ts', '@turnback/core/api']],
  [
    `${api}/modules/clean/routes.ts`,
    ['./service.ts', '#http/implement.ts', '@turnback/core/api', '#modules/turns/index.ts'],
  ],
  [
    `${api}/modules/clean/service.ts`,
    ['./queries.ts', '#db/tx.ts', '#modules/turns/index.ts', '@turnback/core'],
  ],
  [
    `${api}/modules/clean/queries.ts`,
    ['drizzle-orm', '#db/schema/turns.ts', '#db/client.ts', '@turnback/core'],
  ],
  [`${api}/db/clean.ts`, ['drizzle-orm', 'postgres', 'node:fs', './tx.ts']],
  [
    'apps/api/test/clean.test.ts',
    ['vitest', '#app.ts', '#modules/turns/queries.ts', '@turnback/core/testing', './set-up/db.ts'],
  ],
  [`${web}/ui/clean.tsx`, ['react', '@base-ui/react', 'lucide-react', './button.tsx']],
  [
    `${web}/features/turns/clean.tsx`,
    ['#ui/button.tsx', '#lib/api.ts', './turn-row.tsx', '@turnback/core/api'],
  ],
  [`${web}/lib/clean.ts`, ['@turnback/core/api', '@tanstack/react-query', './paths.ts']],
  [
    `${web}/app/turns/clean.tsx`,
    ['#features/turns/list.tsx', '#features/diff/view.tsx', '#ui/button.tsx', '#lib/api.ts'],
  ],
  [`${client}/capture/clean.ts`, ['#ports.ts', '@turnback/core', './begin.ts', 'node:path']],
  [`${client}/worktree/clean.ts`, ['node:fs', '#ports.ts', './scan.ts']],
  [`${client}/store/clean.ts`, ['node:sqlite', 'node:fs', '#ports.ts']],
  [`${client}/deps.ts`, ['#store/packs.ts', '#worktree/scan.ts', '#sync/push.ts', './ports.ts']],
  [`${client}/adapters/clean.ts`, ['node:fs', './agent.ts']],
  [`${client}/adapters/codex/clean.ts`, ['node:path', '#adapters/adapter.ts', '#setup/setup.ts']],
  ['e2e/journeys/clean.spec.ts', ['@playwright/test', '#support/stack.ts', '@turnback/core/api']],
  ['e2e/playwright.config.ts', ['@playwright/test', '../scripts/chromium.ts']],
]

const lines = (count: number, line: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => line(n)).join('\n')

/** [file, its text, the rule that must speak]. */
const forbiddenCode: [file: string, text: string, rule: string][] = [
  [
    `${core}/path/node.ts`,
    "import { join } from 'node:path'\nexport const a = join('a')\n",
    'lint/correctness/noNodejsModules',
  ],
  [
    `${core}/history/clock.ts`,
    'export const now = () => Date.now()\n',
    'lint/nursery/noJsRestrictedProperties',
  ],
  [
    `${core}/history/chance.ts`,
    'export const id = () => Math.random()\n',
    'lint/nursery/noJsRestrictedProperties',
  ],
  [
    `${core}/blob/first.ts`,
    "import { second } from './second.ts'\nexport const first = (): number => second()\n",
    'lint/suspicious/noImportCycles',
  ],
  [
    `${core}/blob/second.ts`,
    "import { first } from './first.ts'\nexport const second = (): number => first()\n",
    'lint/suspicious/noImportCycles',
  ],
  [
    `${api}/http/undeclared.ts`,
    "import x from 'not-in-package-json'\nexport const y = x\n",
    'lint/correctness/noUndeclaredDependencies',
  ],
  [
    `${api}/http/dev-only.ts`,
    "import { test } from 'vitest'\nexport const y = test\n",
    'lint/correctness/noUndeclaredDependencies',
  ],
  [
    `${web}/lib/server.ts`,
    "import { build } from '@turnback/api'\nexport const y = build\n",
    'lint/correctness/noUndeclaredDependencies',
  ],
  [
    `${client}/cli/floating.ts`,
    'async function send(): Promise<void> {}\nexport function f(): void {\n  send()\n}\n',
    'lint/nursery/noFloatingPromises',
  ],
  [
    `${client}/cli/condition.ts`,
    'async function busy(): Promise<boolean> {\n  return true\n}\nexport function f(): number {\n  return busy() ? 1 : 2\n}\n',
    'lint/nursery/noMisusedPromises',
  ],
  [
    `${core}/text/long.ts`,
    `${lines(401, (n) => `export const a${n} = 1`)}\n`,
    'lint/style/noExcessiveLinesPerFile',
  ],
  [
    `${core}/text/long-function.ts`,
    `export function f(n: number): void {\n${lines(61, () => '  f(n)')}\n}\n`,
    'lint/complexity/noExcessiveLinesPerFunction',
  ],
  [`${web}/ui/BadName.tsx`, 'export const a = 1\n', 'lint/style/useFilenamingConvention'],
  [`${api}/http/any.ts`, 'export const a = (b: any) => b\n', 'lint/suspicious/noExplicitAny'],
  [
    `${web}/features/turns/default.tsx`,
    'export default function A() {\n  return null\n}\n',
    'lint/style/noDefaultExport',
  ],
  [`${client}/cli/print.ts`, "console.log('x')\n", 'lint/suspicious/noConsole'],
  [`${core}/everything.ts`, "export * from './ids.ts'\n", 'lint/performance/noReExportAll'],
]

const allowedCode: [file: string, text: string][] = [
  [`${web}/app/turns/page.tsx`, 'export default function Page() {\n  return null\n}\n'],
  [`${web}/app/turns/[turn]/not-found.tsx`, 'export default function Page() {\n  return null\n}\n'],
  ['apps/web/next.config.ts', 'export default {}\n'],
  ['packages/core/test/long.test.ts', `${lines(600, (n) => `export const a${n} = 1`)}\n`],
]

interface Finding {
  file: string
  rule: string
  message: string
}

const copy = mkdtempSync(join(tmpdir(), 'boundaries-'))
const found: Finding[] = []

function plant(file: string, text: string): void {
  mkdirSync(dirname(join(copy, file)), { recursive: true })
  writeFileSync(join(copy, file), text, { flag: 'a' })
}

function lint(): Finding[] {
  const biome = join(root, 'node_modules/.bin/biome')
  const run = spawnSync(biome, ['lint', '--reporter=json', '--max-diagnostics=none', '.'], {
    cwd: copy,
    encoding: 'utf8',
    maxBuffer: 1 << 27,
  })
  const report: { diagnostics: { category: string; message: string; location: { path: string } }[] } =
    JSON.parse(
      run.stdout ||
        `{"diagnostics":[{"category":"none","message":${JSON.stringify(run.stderr)},"location":{"path":""}}]}`,
    )
  return report.diagnostics.map((d) => ({ file: d.location.path, rule: d.category, message: d.message }))
}

beforeAll(() => {
  for (const file of [
    'biome.json',
    '.gitignore',
    ...globSync('{package.json,{packages,apps}/*/package.json,e2e/package.json}', { cwd: root }),
  ]) {
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    copyFileSync(join(root, file), join(copy, file))
  }
  for (const [file, specifier] of forbiddenImports) plant(file, `import '${specifier}'\n`)
  for (const [file, specifiers] of allowedImports)
    plant(file, specifiers.map((s) => `import '${s}'\n`).join(''))
  for (const [file, text] of [...forbiddenCode, ...allowedCode]) plant(file, text)
  found.push(...lint())
})

afterAll(() => rmSync(copy, { recursive: true, force: true }))

describe('forbidden imports are reported', () => {
  test.each(forbiddenImports)('%s: %s', (file, _specifier, message) => {
    expect(found).toContainEqual({ file, rule: restricted, message })
  })
})

describe('forbidden code is reported', () => {
  test.each(forbiddenCode)('%s', (file, _text, rule) => {
    expect(found.filter((f) => f.file === file).map((f) => f.rule)).toContain(rule)
  })
})

test('an import of types only, a re-export and a dynamic import are imports', () => {
  plant(`${core}/tree/kinds-1.ts`, "import type { A } from '#api/a.ts'\nexport type B = A\n")
  plant(`${core}/tree/kinds-2.ts`, "export { a } from '#api/a.ts'\n")
  plant(`${core}/tree/kinds-3.ts`, "export const a = () => import('#api/a.ts')\n")
  const again = lint()
  for (const n of [1, 2, 3])
    expect(again.filter((f) => f.file === `${core}/tree/kinds-${n}.ts`).map((f) => f.rule)).toContain(
      restricted,
    )
})

test('nothing else is reported: clean files pass', () => {
  const planted = new Set([...forbiddenImports, ...forbiddenCode].map(([file]) => file))
  expect(found.filter((f) => !planted.has(f.file))).toEqual([])
})

test("the one way up: the browser tests find the browser by the repository's own script", () => {
  const messages = found.filter((f) => f.file === 'e2e/playwright.config.ts').map((f) => f.message)
  expect(messages).toEqual([acrossFolders])
})

test('every message in biome.json was heard at least once', () => {
  const written = [
    ...readFileSync(join(root, 'biome.json'), 'utf8').matchAll(/"message": "((?:[^"\\]|\\.)*)"/g),
  ]
  const heard = new Set(found.map((f) => f.message))
  const silent = written.map((m) => m[1] ?? '').filter((m) => !heard.has(m) && !m.startsWith('core has no '))
  expect(written.length).toBeGreaterThan(20)
  expect(silent).toEqual([])
})
