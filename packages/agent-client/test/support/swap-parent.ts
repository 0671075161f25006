// Swaps ROOT/sub for a link to OUTSIDE and back, as fast as it can, until it is ended.
import { renameSync, symlinkSync, unlinkSync, writeSync } from 'node:fs'

const [root, outside] = process.argv.slice(2)
if (root === undefined || outside === undefined) throw new Error('usage: swap-parent ROOT OUTSIDE')
writeSync(1, 'swapping\n')
for (;;) {
  renameSync(`${root}/sub`, `${root}/sub.real`)
  symlinkSync(outside, `${root}/sub`)
  unlinkSync(`${root}/sub`)
  renameSync(`${root}/sub.real`, `${root}/sub`)
}
