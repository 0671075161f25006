/** The first word that is neither an option nor the folder of `-C`. */
export function findCommandName(argv: readonly string[]): string | null {
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i] ?? ''
    if (word === '-C') i++
    else if (!word.startsWith('-')) return word
  }
  return null
}
