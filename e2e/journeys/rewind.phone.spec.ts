import { appendFileSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from '@playwright/test'
import { differences, snapshotTree } from '@turnback/agent-client/testing'
import { expect, test } from '#support/fixtures.ts'

test('one tap rewinds, another undoes that, and a later edit by hand is kept', async ({ page, project }) => {
  const start = snapshotTree(project.folder)
  const git = snapshotTree(join(project.folder, '.git'), [])
  const notes = () => statSync(join(project.folder, 'notes.md'), { bigint: true })
  const notesBefore = notes()
  const turn = project.playTurn()
  await project.arrived(turn)
  const agents = snapshotTree(project.folder)
  expect(differences(start, agents)).toHaveLength(5)

  await page.goto(project.addressOf(turn))
  await rewindButton(page).tap()
  await expect(page.getByText('Done and verified')).toBeVisible()
  await expect(page.getByRole('heading', { name: '4 restored' })).toBeVisible()
  await expect(page.getByRole('heading', { name: '1 deleted' })).toBeVisible()
  await expect(page.getByRole('heading', { name: /kept|failed|skipped/ })).toHaveCount(0)
  expect(differences(start, snapshotTree(project.folder))).toEqual([])
  expect(differences(git, snapshotTree(join(project.folder, '.git'), []))).toEqual([])
  expect(notes()).toMatchObject({
    ino: notesBefore.ino,
    mtimeNs: notesBefore.mtimeNs,
    ctimeNs: notesBefore.ctimeNs,
  })

  await page.getByRole('button', { name: 'Undo this rewind' }).tap()
  // While it is read, files of the restore come and go.
  await expect(() => expect(differences(agents, snapshotTree(project.folder))).toEqual([])).toPass()

  appendFileSync(join(project.folder, 'app.js'), '// a line by hand\n')
  const edited = readFileSync(join(project.folder, 'app.js'), 'utf8')
  await page.goto(project.addressOf(turn))
  await rewindButton(page).tap()
  await expect(page.getByRole('heading', { name: '1 conflict' })).toBeVisible()
  await page.getByRole('button', { name: 'Confirm rewind' }).tap()
  await expect(page.getByRole('heading', { name: '1 kept' })).toBeVisible()
  await expect(page.getByRole('heading', { name: '3 restored' })).toBeVisible()
  await expect(page.getByText('changed after the turn', { exact: true })).toBeVisible()
  expect(readFileSync(join(project.folder, 'app.js'), 'utf8')).toBe(edited)
  expect(differences(start, snapshotTree(project.folder))).toEqual(['app.js: content'])
})

const rewindButton = (page: Page) => page.getByRole('button', { name: 'Rewind to before this turn' })
