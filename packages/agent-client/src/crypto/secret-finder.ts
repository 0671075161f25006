import type { SecretFinder } from '#capture-ports.ts'

const MASK = '[masked]'
/** Without one of these no rule of the scanner can match. */
const SUSPICIOUS = /\S{16}|:\/\/|-----BEGIN/
const SEPARATOR = '\n\n'

/** False for a text in which no rule can find anything. */
export function needsScanner(text: string): boolean {
  return SUSPICIOUS.test(text)
}

type Range = readonly [from: number, to: number]
type Scan = (text: string) => Promise<Range[]>

/** The scanner is secretlint with its recommended rules; loaded when the first text needs it. */
export function createSecretFinder(): SecretFinder {
  let scan: Promise<Scan> | null = null
  const search = async (text: string) => {
    scan ??= loadScanner()
    return (await scan)(text)
  }
  return {
    async find(texts) {
      const found = texts.map(() => false)
      const suspicious = texts.flatMap((text, i) => (needsScanner(text) ? [i] : []))
      if (suspicious.length === 0) return found
      // One text for all: a call costs a thousand times more than a short text does.
      const ranges = await search(suspicious.map((i) => texts[i]).join(SEPARATOR))
      let at = 0
      for (const i of suspicious) {
        const end = at + (texts[i]?.length ?? 0)
        if (ranges.some(([from, to]) => from < end && to > at)) found[i] = true
        at = end + SEPARATOR.length
      }
      return found
    },
    async mask(text) {
      if (!needsScanner(text)) return text
      const ranges = await search(text)
      return ranges
        .toSorted((a, b) => b[0] - a[0])
        .reduce((masked, [from, to]) => masked.slice(0, from) + MASK + masked.slice(to), text)
    },
  }
}

async function loadScanner(): Promise<Scan> {
  const [{ lintSource }, { creator }] = await Promise.all([
    import('@secretlint/core'),
    import('@secretlint/secretlint-rule-preset-recommend'),
  ])
  const config = {
    rules: [{ id: '@secretlint/secretlint-rule-preset-recommend', rule: creator, options: {} }],
  }
  return async (text) => {
    const { messages } = await lintSource({
      source: { filePath: 'text.txt', content: text, contentType: 'text', ext: '.txt' },
      options: { config, noPhysicFilePath: true, maskSecrets: false },
    })
    return mergeRanges(messages.map(({ range }) => [range[0], range[1]] as const))
  }
}

/** Two rules may find overlapping parts of the same secret. */
function mergeRanges(ranges: readonly Range[]): Range[] {
  const merged: Range[] = []
  for (const [from, to] of ranges.toSorted((a, b) => a[0] - b[0])) {
    const last = merged.at(-1)
    if (last !== undefined && from <= last[1]) merged[merged.length - 1] = [last[0], Math.max(last[1], to)]
    else merged.push([from, to])
  }
  return merged
}
