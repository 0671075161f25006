import { defineConfig, devices } from '@playwright/test'
import { findChromium } from '../scripts/chromium.ts'

const executablePath = findChromium()

/*
 * One real stack for the whole run (global-setup.ts), one worker: the journeys share a service, as people do, and each
 * has a project of its own.
 */
export default defineConfig({
  testDir: './journeys',
  outputDir: './test-results',
  globalSetup: './global-setup.ts',
  workers: 1,
  fullyParallel: false,
  timeout: 180_000,
  expect: { timeout: 15_000 },
  forbidOnly: Boolean(process.env.CI),
  use: {
    ...(executablePath ? { launchOptions: { executablePath } } : {}),
    trace: 'retain-on-failure',
    screenshot: 'only-on-failure',
  },
  projects: [
    { name: 'first-start', testMatch: 'first-start.spec.ts' },
    {
      name: 'desktop',
      testIgnore: ['first-start.spec.ts', '*.phone.spec.ts'],
      dependencies: ['first-start'],
      use: { ...devices['Desktop Chrome'], viewport: { width: 1280, height: 800 } },
    },
    {
      name: 'phone',
      testMatch: ['*.phone.spec.ts'],
      dependencies: ['first-start'],
      use: { ...devices['Pixel 7'], viewport: { width: 390, height: 844 } },
    },
  ],
})
