import { expect, test } from '#support/fixtures.ts'
import { admin } from '#support/stack.ts'

test.use({ storageState: { cookies: [], origins: [] } })

test('a wrong password is refused in plain words, the right one leads to the page that was asked for', async ({
  page,
  stack,
}) => {
  await page.goto('/machines')
  await expect(page).toHaveURL(/\/login\?next=/)
  await page.getByLabel('E-mail').fill(admin.email)
  await page.getByLabel('Password').fill('not the password')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page.getByText('E-mail or password is wrong.')).toBeVisible()

  await page.getByLabel('Password').fill(admin.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page).toHaveURL(`${stack.url}/machines`)
  await expect(page.getByRole('heading', { name: 'Machines' })).toBeVisible()
})

test('a link that is no good is refused, and the form is there instead', async ({ page }) => {
  await page.goto(`/login#token=${'x'.repeat(43)}`)
  await expect(page.getByText('This sign-in link is wrong, used or too old.')).toBeVisible()
  await expect(page.getByLabel('E-mail')).toBeVisible()
  await expect(page).toHaveURL(/\/login$/)
})
