import { type Preview, skipWords } from '@turnback/core'
import { headLine, keptLine, named, pathLine } from './report-words.ts'
import { byWhom, nameTurns, type Turns } from './turn-words.ts'

/** @param command what to type so that exactly this is done */
export function previewInWords(log: Turns, preview: Preview, command: string): string {
  const { head } = preview
  return [
    ...named('would restore', preview.restore),
    ...named('would merge', preview.merge),
    ...named('would delete', preview.delete),
    ...preview.conflicts.map((kept) => keptLine(log, 'would keep', kept)),
    ...preview.skipped.map(({ path, reason }) => pathLine('left out', path, skipWords[reason])),
    ...preview.alsoUndoes.map(({ path, turn }) =>
      pathLine('also undoes', path, `changed ${byWhom(log, turn)}`),
    ),
    ...preview.irreversible.map((what) => pathLine('not undone', what)),
    ...(head.then === head.now ? [] : [headLine(head.then, head.now)]),
    `${countsOf(preview)}${preview.undoes.length === 0 ? '' : `; undoes ${nameTurns(log, preview.undoes)}`}.`,
    `To do exactly this, within ten minutes: \`${command}\`.`,
  ].join('\n')
}

function countsOf(preview: Preview): string {
  const counts: [number, string][] = [
    [preview.restore.length, 'to restore'],
    [preview.merge.length, 'to merge'],
    [preview.delete.length, 'to delete'],
    [preview.conflicts.length, 'to keep'],
    [preview.unchanged, 'as wanted already'],
  ]
  const said = counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`)
  return said.length === 0 ? 'No file would be written' : said.join(', ')
}
