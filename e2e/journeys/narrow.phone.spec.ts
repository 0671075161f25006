import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '#support/fixtures.ts'

test('nothing runs off a narrow screen, whatever paths and lines there are', async ({ page, project }) => {
  const folders = Array.from({ length: 10 }, (_, n) => `${n}-${'a-folder-with-a-long-name'.padEnd(24, 'x')}`)
  const path = [...folders, 'the-file-at-the-end-of-a-path-of-three-hundred-characters.txt'].join('/')
  expect(path.length).toBeGreaterThanOrEqual(300)
  const line = 'one-line-without-a-single-space'.repeat(200).slice(0, 5_000)
  const turn = project.playTurn({
    prompt: `${'AVeryLongWordThatNobodyCanBreak'.repeat(8)} and more`,
    work: () => {
      mkdirSync(join(project.folder, ...folders), { recursive: true })
      writeFileSync(join(project.folder, path), `${line}\n`)
      writeFileSync(join(project.folder, 'app.js'), `${line}\n`)
    },
  })
  await project.arrived(turn)

  const fits = async () => {
    for (const width of [360, 390, 430]) {
      await page.setViewportSize({ width, height: 844 })
      const [scroll, inner] = await page.evaluate(() => [
        document.documentElement.scrollWidth,
        window.innerWidth,
      ])
      expect(scroll, `${page.url()} at ${width}`).toBeLessThanOrEqual(inner ?? 0)
      expect(inner).toBe(width)
    }
  }
  await page.goto(project.address)
  await expect(page.getByRole('link', { name: /AVeryLongWord/ })).toBeVisible()
  await fits()
  await page.goto(project.addressOf(turn))
  await expect(page.getByRole('region', { name: 'app.js', exact: true })).toContainText('one-line-without')
  await fits()
  await page.getByRole('button', { name: 'Rewind to before this turn' }).tap()
  await expect(page.getByText('Done and verified')).toBeVisible()
  await fits()
})
