import { existsSync, type FSWatcher, watch } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Editors and package managers write many files at once. */
const SETTLE_MS = 100

/**
 * Calls `changed` once, when the code that this process was started from is not what lies there any more: edited,
 * built anew or updated. What this process has in memory is then not what the next command would run.
 */
export function watchOwnCode(changed: () => void): { close(): void } {
  let timer: NodeJS.Timeout | null = null
  const onEvent = (_: string, name: string | null) => {
    if (name !== null && !/\.(?:ts|js|cjs|mjs|json)$/.test(name)) return
    timer ??= setTimeout(changed, SETTLE_MS)
  }
  const watchers = findFolders().map((folder) => {
    const watcher: FSWatcher = watch(folder, { persistent: false, recursive: true }, onEvent)
    watcher.on('error', () => watcher.close())
    return watcher
  })
  return {
    close() {
      for (const watcher of watchers) watcher.close()
      if (timer !== null) clearTimeout(timer)
    },
  }
}

/** The bundles, and the sources where there are any: with newer sources the bundle is not used. */
function findFolders(): string[] {
  // From `src/resident` and from a build below `dist` alike.
  const top = join(dirname(fileURLToPath(import.meta.url)), '../..')
  return [join(top, 'dist'), join(top, 'src'), join(top, '../core/src')].filter((folder) =>
    existsSync(folder),
  )
}
