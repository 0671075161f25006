// Swaps ROOT/NAME for a link to TARGET and back, as fast as it can, until it is ended.
import { renameSync, symlinkSync, unlinkSync, writeSync } from 'node:fs'

const [root, name, target] = process.argv.slice(2)
if (root === undefined || name === undefined || target === undefined)
  throw new Error('usage: swap-parent ROOT NAME TARGET')
const at = `${root}/${name}`
/** Whoever races us may have been faster with any of them. */
const steps = [
  () => renameSync(at, `${at}.real`),
  () => symlinkSync(target, at),
  () => unlinkSync(at),
  () => renameSync(`${at}.real`, at),
]
writeSync(1, 'swapping\n')
for (;;) {
  for (const step of steps) {
    try {
      step()
    } catch (error) {
      if (!(error instanceof Error && 'code' in error)) throw error
    }
  }
}
