import type { SkipReason } from '#tree/state.ts'
import type { KeptReason, LostTrait } from './report.ts'

/** Why a path was, or would be, left as it is: in words that need no manual. */
export const keptWords: Readonly<Record<KeptReason, string>> = {
  'changed-after-turn': 'changed after the turn',
  'line-endings-only': 'only its line endings changed since',
  'type-changed': 'is now another kind of thing (file, link or folder)',
  'owned-by-other-session': 'last written by another session',
  'interleaved-with-other-session': 'mixed with changes of another session',
  shared: 'several turns were open when it changed; it is not clear whose change it is',
  'unknown-writer': 'it is not known who changed it',
  'not-captured': 'its bytes were not captured',
  'missing-blob': 'its earlier bytes are missing or damaged in the store',
  'blocked-by-parent': 'something stands where its folder should be',
  'outside-workspace': 'leads outside the workspace',
  'directory-not-empty': 'the folder still holds other files',
  attributes: 'the disk does not let it be so: its attributes, or a name that differs in letter case only',
}

/** Why a path's bytes were not captured, in the same words wherever it is said. */
export const skipWords: Readonly<Record<SkipReason, string>> = {
  'too-large': 'larger than the size limit',
  'excluded-directory': 'dependency, build or cache folder, left out whole',
  unreadable: 'could not be read',
  'changed-while-reading': 'kept changing while it was read',
  'special-file': 'socket, pipe or device',
  'nested-git-dir': 'the inside of a git repository',
  'nested-workspace': 'a workspace of its own',
  budget: 'beyond the storage budget',
  'unsafe-live': 'in use in a way that cannot be copied safely',
}

/** What a file that was restored could not keep. */
export const lostWords: Readonly<Record<LostTrait['what'], string>> = {
  'hard-link': 'it had other names too; they still hold what it held before this',
  owner: 'it belongs to who restored it now; whose it was could not be given back',
}
