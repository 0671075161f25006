/** Lines of the envelope that `apply_patch` takes: each names a file that is written, removed or moved to. */
const NAMES = /^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+?)\s*$/gm
const ENVELOPE = '*** Begin Patch'

/** The files that a patch writes, wherever in the text it stands: Codex also gives it to a shell. */
export function pathsOfPatch(text: string): string[] {
  if (!text.includes(ENVELOPE)) return []
  return [...new Set([...text.matchAll(NAMES)].flatMap(([, path]) => path ?? []))]
}
