/**
 * The file that a reading thread starts from: beside this one, whether it runs from its sources or from a bundle, which
 * has the same name with another ending.
 */
export function readWorkerFile(): URL {
  const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
  return new URL(`./read-worker.${ending}`, import.meta.url)
}
