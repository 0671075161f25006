import { expect, test } from '#support/fixtures.ts'

test('the machines page shows a client as online while it runs, and offline after', async ({
  page,
  project,
}) => {
  const turn = project.playTurn()
  await project.arrived(turn)
  await page.goto('/machines')
  const machine = page
    .getByRole('listitem')
    .filter({ hasText: 'Key fingerprint' })
    .filter({ hasText: project.folder })
  await expect(machine.getByText('Online', { exact: true })).toBeVisible()
  await project.machine.disconnect()
  await expect(machine.getByText(/^Offline/)).toBeVisible()
  await project.machine.connect()
  await expect(machine.getByText('Online', { exact: true })).toBeVisible()
})
