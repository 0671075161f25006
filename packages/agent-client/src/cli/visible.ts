/**
 * Names and texts come from whoever wrote the tree; a terminal obeys some of them. These characters are shown
 * as escapes: controls (they move the cursor, colour, retitle), and those that turn or hide what follows.
 */
const OBEYED = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/gu

function escapeOf(char: string): string {
  if (char === '\n') return '\\n'
  const code = char.codePointAt(0) ?? 0
  return code < 0x100
    ? `\\x${code.toString(16).padStart(2, '0')}`
    : `\\u${code.toString(16).padStart(4, '0')}`
}

/** A name or text on one line: nothing in it can reach the terminal or look like a line of ours. */
export function onOneLine(text: string): string {
  return text.replace(OBEYED, escapeOf)
}

/** Words of several lines: line ends stay, everything else that a terminal obeys is shown. */
export function inPlainLines(text: string): string {
  return text.split('\n').map(onOneLine).join('\n')
}
