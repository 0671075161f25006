import { expect, sessionFile, test } from '#support/fixtures.ts'
import { admin } from '#support/stack.ts'

test.use({ storageState: { cookies: [], origins: [] } })

test('the printed link makes the first administrator, once, and signs them in', async ({ page, stack }) => {
  await page.goto(stack.setUpUrl)
  await page.getByLabel('Name').fill(admin.name)
  await page.getByLabel('E-mail').fill(admin.email)
  await page.getByLabel('Password').fill(admin.password)
  await page.getByRole('button', { name: 'Create account' }).click()
  await expect(page).toHaveURL(`${stack.url}/`)
  await page.context().storageState({ path: sessionFile(stack) })

  await page.context().clearCookies()
  await page.goto(stack.setUpUrl)
  await page.getByLabel('Name').fill('Somebody Else')
  await page.getByLabel('E-mail').fill('else@example.invalid')
  await page.getByLabel('Password').fill(admin.password)
  await page.getByRole('button', { name: 'Create account' }).click()
  await expect(page.getByText('This set-up link is wrong, used or too old.')).toBeVisible()
})
