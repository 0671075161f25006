/** What a model is given in one answer has to fit beside everything else that it reads. */
const LISTED = 200
const PATCH_CHARACTERS = 40_000

/** The first items of a list, with a word of what is left out. */
export function cutList<T>(
  items: readonly T[],
  most: number = LISTED,
): { readonly items: readonly T[]; readonly leftOut: number } {
  return { items: items.slice(0, most), leftOut: Math.max(0, items.length - most) }
}

/** A text of any length, cut with a word of how much more there is. */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text
  // Not between the two halves of a character.
  const end = /[\ud800-\udbff]/.test(text.charAt(most - 1)) ? most - 1 : most
  return `${text.slice(0, end)}… (${text.length - end} more characters)`
}

export interface Patch {
  readonly path: string
  readonly patch: string
}

/** Whole patches as long as there is room, at the end of a line the one that there is no room for; and what is not shown. */
export function cutPatches(
  patches: readonly Patch[],
  most: number = PATCH_CHARACTERS,
): { readonly text: string; readonly cut: string | null; readonly notShown: readonly string[] } {
  let text = ''
  for (const [at, { path, patch }] of patches.entries()) {
    const room = most - text.length
    if (patch.length <= room) {
      text += patch
      continue
    }
    const end = patch.lastIndexOf('\n', room - 1) + 1
    const rest = patches.slice(at + 1).map((each) => each.path)
    return end === 0
      ? { text, cut: null, notShown: [path, ...rest] }
      : { text: text + patch.slice(0, end), cut: path, notShown: rest }
  }
  return { text, cut: null, notShown: [] }
}
