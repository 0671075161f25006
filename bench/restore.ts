import { measureMemory } from './rows-memory.ts'
import { measureRestoreOf } from './rows-restore.ts'
import type { Take } from './session.ts'
import { type Settings, Stage } from './stage.ts'

/** Going back, against its peers. */
export async function measureRestore(settings: Settings, take: Take): Promise<void> {
  const stage = new Stage(settings, 'tree', settings.copies)
  try {
    stage.git.init()
    await take('restore-4', () =>
      measureRestoreOf(stage, {
        ...{ row: 'restore-4', work: 'restore of 4 files, resident', count: 4, goal: 0.1 },
        ...{ restic: { row: 'restic-4', goal: 0.05 }, preview: null },
      }),
    )
    await take('restore-100', () =>
      measureRestoreOf(stage, {
        ...{ row: 'restore-100', work: 'restore of 100 files, resident', count: 100, goal: 0.3 },
        ...{ restic: null, preview: null },
      }),
    )
    const { length } = stage.corpus.files
    await take('restore-all', () =>
      measureRestoreOf(stage, {
        ...{ row: 'restore-all', work: `restore of all ${length} files, resident`, count: null, goal: 0.7 },
        ...{ restic: { row: 'restic-all', goal: 0.8 }, preview: { row: 'preview-all', goal: 0.3 } },
      }),
    )
  } finally {
    stage.close()
  }
  await measureMemory(settings, take)
}
