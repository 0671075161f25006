import { join } from 'node:path'
import { expect, test } from '#support/fixtures.ts'
import { checkout } from '#support/stack.ts'

const picture = (name: string) => join(checkout, 'docs/images', `${name}.png`)
const desktop = { width: 1120, height: 720 }
const phone = { width: 390, height: 844 }

test.use({ names: { project: 'Harbour', machine: 'ada-laptop' } })

test('pictures of the README', async ({ page, project }) => {
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
  const turn = project.playTurn()
  await project.arrived(turn)

  await page.setViewportSize(desktop)
  await page.goto(project.addressOf(turn))
  await expect(page.getByRole('region', { name: 'app.js', exact: true })).toContainText('framework.js')
  await page.screenshot({ path: picture('turn-desktop') })

  await page.setViewportSize(phone)
  await page.getByRole('button', { name: 'Rewind to before this turn' }).click()
  await expect(page.getByText('Done and verified')).toBeVisible()
  await page.screenshot({ path: picture('report-phone') })
})
