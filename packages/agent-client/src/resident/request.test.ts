import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CLIENT_VERSION } from '#client-version.ts'
import { PASSED_VARIABLES, parseRequest, SERVED } from './request.ts'

const launcher = readFileSync(new URL('../../../../bin/turnback', import.meta.url), 'utf8')

test('the launcher says the same version, variables and commands', () => {
  expect(launcher).toMatch(new RegExp(`^tb_version=${CLIENT_VERSION} `, 'm'))
  const passed = [...launcher.matchAll(/"\$\{(\w+)\+\1=\$\1\}"/g)].map(([, name]) => name)
  expect(passed).toEqual([...PASSED_VARIABLES])
  const [, commands = ''] = /^ {4}(hook \| [a-z |]+)\) ;;$/m.exec(launcher) ?? []
  expect(new Set(commands.split(' | '))).toEqual(SERVED)
})

function write(argv: readonly string[], folder: string): Buffer {
  const variables = PASSED_VARIABLES.map((name) => (name === 'HOME' ? 'HOME=/home/ada=x' : ''))
  const fields = ['1', '0.0.0', '7', '6', '2', '1', String(argv.length), ...argv, ...variables, `${folder}\n`]
  return Buffer.from(`${fields.join('\0')}\0.`)
}

test('what was written is read again, whatever the words and the folder are', () => {
  const word = fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\0', ''))
  fc.assert(
    fc.property(fc.array(word, { minLength: 1 }), word, (argv, name) => {
      expect(parseRequest(write(argv, `/${name}`))).toEqual({
        version: '0.0.0',
        pid: 7,
        parentPid: 6,
        talksToTerminal: true,
        hasStdin: true,
        argv,
        env: { HOME: '/home/ada=x' },
        folder: `/${name}`,
      })
    }),
  )
})

test('a request that is cut short anywhere is none', () => {
  const whole = write(['begin', '--session', 's'], '/tree')
  expect(parseRequest(whole)).not.toBeNull()
  for (let length = 0; length < whole.length; length++)
    expect(parseRequest(whole.subarray(0, length))).toBeNull()
})
