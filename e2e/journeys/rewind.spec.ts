import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { snapshotTree } from '@turnback/agent-client/testing'
import { expect, test } from '#support/fixtures.ts'

test('a plan that is stale when it is confirmed does nothing, and says why', async ({ page, project }) => {
  const turn = project.playTurn()
  await project.arrived(turn)
  // A conflict, so that the plan waits to be looked at.
  appendFileSync(join(project.folder, 'app.js'), '// a line by hand\n')
  await page.goto(project.addressOf(turn))
  await page.getByRole('button', { name: 'Rewind to before this turn' }).click()
  await expect(page.getByRole('heading', { name: '1 conflict' })).toBeVisible()

  appendFileSync(join(project.folder, 'styles.css'), '/* while the plan was on the screen */\n')
  const present = snapshotTree(project.folder)
  await page.getByRole('button', { name: 'Confirm rewind' }).click()
  await expect(page.getByText('Something changed since the preview, so nothing was done.')).toBeVisible()
  expect(snapshotTree(project.folder)).toEqual(present)
})
