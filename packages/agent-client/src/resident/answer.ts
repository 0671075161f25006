/**
 * Lines that `bin/turnback` reads with the shell's own `read`:
 *
 *     e TEXT         a piece for standard error
 *     x CODE TEXT    the end: exit code, and what goes to standard output
 *     d              not taken: the caller does it itself
 *     .              still at work
 *
 * TEXT is written for `printf %b`, so any bytes come out as they went in; `-` is nothing, `@` a file beside the reply.
 */
export const DECLINED = 'd\n'
export const AT_WORK = '.\n'

/** Longest text of a line. The shell reads it byte by byte; beyond this, starting `cat` is quicker. */
const TEXT_LENGTH = 2000
/** Bytes that fit a line however they have to be written. */
const PIECE_BYTES = TEXT_LENGTH / 5

/** The text of a line, or null when it is too long for one. */
function escapeForShell(bytes: Uint8Array): string | null {
  if (bytes.length === 0) return '-'
  if (bytes.length > TEXT_LENGTH) return null
  let text = ''
  for (const byte of bytes) text += escapeByte(byte)
  if (text.length > TEXT_LENGTH) return null
  // Not to be taken for one of the marks.
  return text === '-' || text === '@' ? octal(text.charCodeAt(0)) : text
}

function escapeByte(byte: number): string {
  const isPlain = byte > 0x20 && byte < 0x7f && byte !== BACKSLASH
  if (isPlain) return String.fromCharCode(byte)
  return byte === NEWLINE ? '\\n' : octal(byte)
}

const BACKSLASH = 0x5c
const NEWLINE = 0x0a

function octal(byte: number): string {
  return `\\0${byte.toString(8).padStart(3, '0')}`
}

/** Talk, in as many lines as it takes. */
export function talkLines(bytes: Uint8Array): string[] {
  const lines: string[] = []
  for (let at = 0; at < bytes.length; at += PIECE_BYTES)
    lines.push(`e ${escapeForShell(bytes.subarray(at, at + PIECE_BYTES))}\n`)
  return lines
}

/** @returns the line, and whether the output has to be in the file by then */
export function endLine(
  exitCode: number,
  output: Uint8Array,
): { readonly line: string; readonly isInFile: boolean } {
  const text = escapeForShell(output)
  return { line: `x ${exitCode} ${text ?? '@'}\n`, isInFile: text === null }
}
