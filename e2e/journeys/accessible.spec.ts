import AxeBuilder from '@axe-core/playwright'
import type { Page } from '@playwright/test'
import { routes } from '@turnback/core/api'
import { expect, test } from '#support/fixtures.ts'
import { call } from '#support/rest.ts'

for (const colorScheme of ['light', 'dark'] as const)
  test(`no page has a serious barrier, in ${colorScheme}`, async ({ page, project, rest }) => {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    const turn = project.playTurn()
    await project.arrived(turn)
    const { summary } = await call(rest, routes.getTurn, { params: { turn } })
    const { id } = await call(rest, routes.createRestore, {
      body: { workspace: summary.workspace, turn, mode: 'run' },
    })
    const status = async () =>
      (await call(rest, routes.getRestore, { params: { restore: id }, query: {} })).status
    await expect.poll(status).toBe('done')

    for (const address of [
      '/',
      project.address,
      project.addressOf(turn),
      `${project.address}/restores`,
      `${project.address}/restores/${id}`,
      '/machines',
    ])
      await expectNoBarrier(page, address)

    await page.context().clearCookies()
    for (const address of ['/login', '/setup']) await expectNoBarrier(page, address)
  })

async function expectNoBarrier(page: Page, address: string): Promise<void> {
  await page.goto(address)
  await expect(page.locator('main, h1').first()).toBeVisible()
  await expect(page.getByText(/^Loading/)).toHaveCount(0)
  const { violations } = await new AxeBuilder({ page }).analyze()
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
  const said = serious.map(
    ({ id, nodes }) => `${id}: ${nodes.map((node) => node.html.slice(0, 200)).join(' | ')}`,
  )
  expect(said, address).toEqual([])
}
