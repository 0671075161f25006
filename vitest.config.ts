import { existsSync } from 'node:fs'
import { defineConfig } from 'vitest/config'

// A real PostgreSQL for the integration tests is started by the service's own set-up file.
const databaseSetup = 'apps/api/test/global-setup.ts'

export default defineConfig({
  test: {
    // Two at once: the tests that matter here start processes of their own (PostgreSQL, git, the client).
    maxWorkers: 2,
    projects: [
      {
        // tsconfig says "preserve" for Next, which leaves JSX in what the tests run.
        oxc: { jsx: { runtime: 'automatic' } },
        test: {
          name: 'unit',
          include: ['{packages,apps}/*/src/**/*.test.{ts,tsx}', '{scripts,integrations}/*.test.ts'],
          testTimeout: 20_000,
        },
      },
      {
        test: {
          name: 'integration',
          include: ['{packages,apps}/*/test/**/*.test.ts', 'integrations/test/*.test.ts'],
          globalSetup: existsSync(databaseSetup) ? [databaseSetup] : [],
          pool: 'forks',
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      // Real agents, which are fetched first: these two in every run, all of them by `pnpm test:agents`.
      agents('agents', ['claude-code', 'codex']),
      agents('all-agents', ['*']),
    ],
  },
})

function agents(name: string, names: string[]) {
  return {
    test: {
      name,
      include: names.map((each) => `e2e/agents/${each}.test.ts`),
      pool: 'forks' as const,
      // One at a time: each starts a resident client and an agent of its own.
      fileParallelism: false,
    },
  }
}
