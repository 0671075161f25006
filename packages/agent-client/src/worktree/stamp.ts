import type { BigIntStats } from 'node:fs'

const SECOND_NS = 1_000_000_000n
/** Kernels stamp files with a clock that ticks this coarsely at most … */
const FINE_SLACK_NS = 20_000_000n
/** … except file systems that keep whole or even seconds only. */
const COARSE_SLACK_NS = 2n * SECOND_NS

/** Everything of a file or directory that changes when its bytes, names or mode do. */
export function stampOf(stat: BigIntStats): string {
  return `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}:${stat.mode}`
}

/**
 * True when the stamp proves nothing: the last change is so near to the look at it that one after the look could
 * bear the same time. Change times are asked, since unlike modification times nobody can set them.
 * @param scanStartNs nanoseconds since 1970, by the clock that files are stamped with
 */
export function isRacy(changedNs: bigint, scanStartNs: bigint): boolean {
  const slack = changedNs % SECOND_NS === 0n ? COARSE_SLACK_NS : FINE_SLACK_NS
  return changedNs + slack >= scanStartNs
}

/** When it came to its place or got its mode, if that is the last that happened to it; else 0. */
export function movedNsOf({ ctimeNs, mtimeNs }: BigIntStats): bigint {
  return ctimeNs > mtimeNs ? ctimeNs : 0n
}
