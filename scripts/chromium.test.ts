import { describe, expect, test } from 'vitest'
import { findChromium } from './chromium.ts'

const machine = (programs: string[], env: Record<string, string>) => ({
  env,
  isExecutable: (path: string) => programs.includes(path),
})

describe('findChromium', () => {
  test('takes the one that is named, before any other', () => {
    const here = machine(['/opt/c', '/usr/bin/chromium'], { TURNBACK_CHROMIUM: '/opt/c', PATH: '/usr/bin' })
    expect(findChromium(here)).toBe('/opt/c')
  })

  test('refuses a named one that is not there, instead of taking another', () => {
    const here = machine(['/usr/bin/chromium'], { TURNBACK_CHROMIUM: '/opt/c', PATH: '/usr/bin' })
    expect(() => findChromium(here)).toThrow('/opt/c')
  })

  test('prefers Chromium to Chrome, wherever they stand in PATH', () => {
    const here = machine(['/a/google-chrome', '/b/chromium'], { PATH: '/a:/b' })
    expect(findChromium(here)).toBe('/b/chromium')
  })

  test('knows the usual places when PATH is poor', () => {
    expect(findChromium(machine(['/usr/bin/chromium'], { PATH: '' }))).toBe('/usr/bin/chromium')
    expect(findChromium(machine(['/chromium'], { PATH: ':' }))).toBeNull()
  })
})
