import { readFileSync } from 'node:fs'

const FOLDER = new URL('../golden/hooks/', import.meta.url).pathname

/** One recorded payload, with this test's folders in it and some fields changed. */
export function golden(
  agent: string,
  name: string,
  places: { readonly tree: string; readonly home: string },
  changed: Readonly<Record<string, unknown>> = {},
): string {
  const text = readFileSync(`${FOLDER}${agent}/${name}.json`, 'utf8')
    .replaceAll('$TREE', places.tree)
    .replaceAll('$HOME', places.home)
  return JSON.stringify({ ...JSON.parse(text), ...changed })
}
