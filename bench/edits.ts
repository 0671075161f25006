import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** `count` of the files, spread evenly over all of them; other ones for another `offset`. */
export function pick(files: readonly string[], count: number, offset: number): string[] {
  return Array.from({ length: count }, (_, i) => {
    const at = (Math.floor((i * files.length) / count) + offset) % files.length
    return files[at] ?? ''
  })
}

export function appendLine(root: string, files: readonly string[], line: string): void {
  for (const file of files) appendFileSync(join(root, file), `\n// ${line}\n`)
}

/** Twice as much space before every line that has some; a file without any is indented whole. */
export function indentAgain(root: string, files: readonly string[]): void {
  for (const file of files) {
    const path = join(root, file)
    const text = readFileSync(path, 'latin1')
    const wider = text.replace(/^[ \t]+/gm, (space) => space + space)
    writeFileSync(path, wider === text ? text.replace(/^(?=.)/gm, '  ') : wider, 'latin1')
  }
}
