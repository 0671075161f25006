import { execFileSync } from 'node:child_process'
import { zstdCompressSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { statedBytes, unzstd } from './zstd.ts'

test.each([0, 1, 255, 256, 65_535, 65_791, 65_792, 3_000_000])(
  'a frame of %d bytes says so',
  async (size) => {
    const frame = zstdCompressSync(Buffer.alloc(size, 7))
    expect(statedBytes(frame)).toBe(size)
    const bytes = await unzstd(frame, size)
    expect('fault' in bytes ? bytes : bytes.length).toBe(size)
  },
)

test('what is no whole frame header states nothing', () => {
  const frame = zstdCompressSync(Buffer.alloc(3_000_000))
  for (let length = 0; length < 8; length++) expect(statedBytes(frame.subarray(0, length))).toBeNull()
  expect(statedBytes(Buffer.alloc(20))).toBeNull()
})

test('a frame that holds more than it says, or than is allowed, is not unpacked', async () => {
  const bomb = zstdCompressSync(Buffer.alloc(60_000_000))
  expect(await unzstd(bomb, 1000)).toEqual({ fault: 'too-large' })
  expect(await unzstd(bomb, 59_999_999)).toEqual({ fault: 'too-large' })
  bomb.writeUInt32LE(1000, 6)
  expect(statedBytes(bomb)).toBe(1000)
  expect(await unzstd(bomb, 60_000_000)).toMatchObject({ fault: expect.any(String) })
})

test('of a bomb that does not say its size, no more is made than is allowed', () => {
  // In a process of its own: the highest memory use of a process cannot be set back.
  const script = `
    import { createZstdCompress } from 'node:zlib'
    import { statedBytes, unzstd } from ${JSON.stringify(new URL('./zstd.ts', import.meta.url).href)}
    const packer = createZstdCompress()
    const parts = []
    packer.on('data', (part) => parts.push(part))
    const zeros = Buffer.alloc(1 << 20)
    for (let n = 0; n < 400; n++) if (!packer.write(zeros)) await new Promise((go) => packer.once('drain', go))
    await new Promise((done) => packer.end(done))
    const bomb = Buffer.concat(parts)
    const before = process.resourceUsage().maxRSS
    const result = await unzstd(bomb, 8 << 20)
    const grownMb = (process.resourceUsage().maxRSS - before) / 1024
    console.log(JSON.stringify({ stated: statedBytes(bomb), result, grownMb }))`
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  const { stated, result, grownMb } = JSON.parse(said)
  expect({ stated, result }).toEqual({ stated: null, result: { fault: 'too-large' } })
  expect(grownMb).toBeLessThan(100)
})
