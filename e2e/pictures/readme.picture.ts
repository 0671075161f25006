import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '#support/fixtures.ts'
import { checkout } from '#support/stack.ts'

const picture = (name: string) => join(checkout, 'docs/images', `${name}.png`)
const desktop = { width: 1120, height: 720 }
const phone = { width: 390, height: 844 }

test('pictures of the README', async ({ page, project }) => {
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
  const write = (name: string, text: string) => () => writeFileSync(join(project.folder, name), text)
  project.playTurn({
    prompt: 'Write a page with opening times',
    work: write('hours.html', '<h1>Open 6–22</h1>\n'),
  })
  project.playTurn({ prompt: 'List the ships in order of arrival', work: write('order.js', 'export {}\n') })
  const turn = project.playTurn()
  await project.arrived(turn)

  await page.setViewportSize(desktop)
  await page.goto(project.address)
  await expect(page.getByRole('link', { name: /dark look/ })).toBeVisible()
  await page.screenshot({ path: picture('timeline-desktop') })
  await page.goto(project.addressOf(turn))
  await expect(page.getByRole('region', { name: 'app.js', exact: true })).toContainText('framework.js')
  await page.screenshot({ path: picture('turn-desktop') })

  await page.setViewportSize(phone)
  await page.goto(project.addressOf(turn))
  await expect(page.getByRole('region', { name: 'app.js', exact: true })).toContainText('framework.js')
  await page.screenshot({ path: picture('turn-phone') })
  await page.getByRole('button', { name: 'Rewind to before this turn' }).click()
  await expect(page.getByText('Done and verified')).toBeVisible()
  await page.screenshot({ path: picture('report-phone') })
})
