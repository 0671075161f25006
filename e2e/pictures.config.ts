import { defineConfig } from '@playwright/test'
import journeys from './playwright.config.ts'

/*
 * Makes the pictures of the README from the running product: `playwright test --config e2e/pictures.config.ts`.
 * No part of the tests: a picture that differs is no failure.
 */
export default defineConfig({
  ...journeys,
  testDir: '.',
  projects: [
    { name: 'first-start', testMatch: 'journeys/first-start.spec.ts' },
    { name: 'pictures', testMatch: 'pictures/*.picture.ts', dependencies: ['first-start'] },
  ],
})
