/**
 * Characters that are drawn as nothing or that turn the order of their neighbours round. Shown as they
 * are, they let a path or a line of code look like another one.
 */
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu

/** The text with each such character written as `⟨U+202E⟩`. Tabs and line ends stay. */
export function makeVisible(text: string): string {
  return text.replace(
    HIDDEN,
    (char) => `⟨U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`,
  )
}
