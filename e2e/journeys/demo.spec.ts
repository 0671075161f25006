import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, PROMPT, test } from '#support/fixtures.ts'
import { listBelow, stillRunning } from '#support/process-tree.ts'
import { checkout, node } from '#support/stack.ts'

test.use({ storageState: { cookies: [], origins: [] } })
test.skip(process.platform !== 'linux', 'reads /proc')

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  test(`the demo's link signs in and leads to its turn; ${signal} leaves nothing behind`, async ({
    page,
  }) => {
    const env = { ...process.env, NO_COLOR: '1', PORT: '', HOST: '' }
    const demo = spawn(node, [join(checkout, 'scripts/demo.ts')], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    const closed = once(demo, 'close')
    let said = ''
    for (const stream of [demo.stdout, demo.stderr])
      stream.on('data', (chunk: Buffer) => (said += chunk.toString()))
    try {
      await expect(() => expect(said).toContain('Ctrl-C ends everything')).toPass({ timeout: 60_000 })
      const link = /http:\S+\/login#\S+/.exec(said)?.[0] ?? ''
      const folder = /\/\S+\/turnback-demo-\w+/.exec(said)?.[0] ?? ''
      expect(existsSync(folder)).toBe(true)
      await page.goto(link)
      await expect(page.getByRole('link', { name: PROMPT })).toBeVisible()

      const processes = listBelow(demo.pid ?? 0)
      expect(processes.map(({ command }) => command).join('\n')).toMatch(
        /next[\s\S]*main\.[jt]s|main\.[jt]s[\s\S]*next/,
      )
      expect(processes.map(({ command }) => command).join('\n')).toContain('postgres')
      demo.kill(signal)
      const [code] = await closed
      expect(code).toBe(0)
      expect(stillRunning(processes)).toEqual([])
      expect(existsSync(folder)).toBe(false)
      const server = createServer().listen(Number(new URL(link).port), '127.0.0.1')
      await once(server, 'listening')
      server.close()
    } finally {
      demo.kill('SIGTERM')
      await closed
    }
  })
