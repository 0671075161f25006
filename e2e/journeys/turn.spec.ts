import { spawnSync } from 'node:child_process'
import { cpSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { differences, snapshotTree } from '@turnback/agent-client/testing'
import { routes } from '@turnback/core/api'
import { expect, PROMPT, test } from '#support/fixtures.ts'
import { columnsHolding, filesHolding } from '#support/plain-text-search.ts'
import { call } from '#support/rest.ts'
import { databaseUrl } from '#support/stack.ts'

/** Stands in the sample's .env, and nowhere else. */
const SECRET = 'mast-and-anchor-7741'
/** Stands in the sample's app.js before the turn. */
const PLAIN = 'lies at berth'

test('a turn appears in the open list without a reload, and its page shows what happened', async ({
  page,
  project,
}) => {
  await page.goto(project.address)
  await expect(page.getByRole('link', { name: PROMPT })).toHaveCount(0)
  await page.evaluate(() => Object.assign(window, { isFirstPage: true }))

  project.playTurn()
  const row = page.getByRole('link', { name: PROMPT })
  await expect(row).toBeVisible()
  await expect(row).toContainText('1 file created')
  await expect(row).toContainText('4 files changed')
  await row.click()

  await expect(page.getByRole('heading', { name: PROMPT })).toBeVisible()
  const file = (path: string) => page.getByRole('region', { name: path, exact: true })
  // One added line and nothing else: the title that the user had edited is no change of the turn.
  await expect(file('index.html').locator('ins, del')).toHaveText(/<link rel="stylesheet" href="theme.css">/)
  await expect(file('styles.css')).toContainText('.berth-9 {')
  await expect(file('theme.css')).toContainText('color-scheme: dark')
  await file('theme.css').scrollIntoViewIfNeeded() // long diffs are drawn as they come into view
  await expect(file('styles.css')).toContainText('.berth-42 {')
  await expect(file('app.js')).toContainText('framework.js')
  await expect(file('.env')).toContainText('Sealed')
  await expect(file('notes.md')).toHaveCount(0)
  expect(await page.content()).not.toContain(SECRET)
  expect(await page.evaluate(() => 'isFirstPage' in window)).toBe(true)
})

test('the diffs turn the tree before into the tree after', async ({ project, rest }) => {
  const before = `${project.folder}.before`
  cpSync(project.folder, before, { recursive: true })
  const turn = project.playTurn()
  await project.arrived(turn)

  const { items } = await call(rest, routes.getDiff, { params: { turn }, query: {} })
  const patches = items.map((file) => file.patch ?? '').join('')
  writeFileSync(`${before}.patch`, patches)
  rmSync(join(before, '.git'), { recursive: true })
  const applied = spawnSync('git', ['apply', '--whitespace=nowarn', `${before}.patch`], {
    cwd: before,
    encoding: 'utf8',
  })
  expect(applied.stderr).toBe('')
  // .env is sealed: its change is known, its lines are not.
  expect(differences(snapshotTree(project.folder), snapshotTree(before))).toEqual(['.env: content'])
})

test('what is in .env stands nowhere in the service, not even compressed', async ({
  page,
  project,
  stack,
}) => {
  const turn = project.playTurn()
  await project.arrived(turn)
  await page.goto(project.addressOf(turn)) // so that whatever a page view writes is there too
  await expect(page.getByRole('region', { name: '.env', exact: true })).toBeVisible()

  expect(await filesHolding(stack.dataDir, SECRET)).toEqual([])
  expect(await filesHolding(join(project.machine.home, 'turnback/logs'), SECRET)).toEqual([])
  expect(await columnsHolding(databaseUrl(stack), SECRET)).toEqual([])

  // The same search finds what is not secret: in the objects, inside compressed packs; and in the database.
  expect((await filesHolding(stack.dataDir, PLAIN)).length).toBeGreaterThan(0)
  expect(await columnsHolding(databaseUrl(stack), PROMPT)).not.toEqual([])
})
