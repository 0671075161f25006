import type { SkipReason } from '@turnback/core'

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
