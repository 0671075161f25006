import { equalBytes } from './bytes.ts'
import { byteString, bytesOf } from './lines.ts'

/** As far as git looks for a NUL, too. */
const LOOKED_AT = 8000

/** True when the bytes can be shown, compared and merged by lines: there is no NUL near their start. */
export function isText(bytes: Uint8Array): boolean {
  return !bytes.subarray(0, LOOKED_AT).includes(0)
}

/** True when two different texts are the same but for carriage returns before line feeds. */
export function differOnlyInLineEnds(a: Uint8Array, b: Uint8Array): boolean {
  if (!isText(a) || !isText(b) || equalBytes(a, b)) return false
  return equalBytes(withoutCarriageReturns(a), withoutCarriageReturns(b))
}

function withoutCarriageReturns(bytes: Uint8Array): Uint8Array {
  return bytesOf(byteString(bytes).replaceAll('\r\n', '\n'))
}
