/** Ends one command and begins another; a newline does too. */
const SEPARATORS = new Set([';', '&', '|', '(', ')', '\n', '`', '{', '}'])

/**
 * The commands of a shell's line, each as its words, as far as they can be told without running it: quotes are taken
 * off, variables stay as they are written. What a command substitution in double quotes runs is looked into too.
 */
export function splitCommands(line: string): string[][] {
  const commands: string[][] = []
  let words: string[] = []
  let word: string | null = null
  const endWord = (): void => {
    if (word !== null) words.push(word)
    word = null
  }
  const endCommand = (): void => {
    endWord()
    if (words.length > 0) commands.push(words)
    words = []
  }
  for (let i = 0; i < line.length; i++) {
    const char = line.charAt(i)
    if (char === '\\') word = (word ?? '') + line.charAt(++i)
    else if (char === "'" || char === '"') {
      const { text, end } = readQuoted(line, i)
      word = (word ?? '') + text
      if (char === '"') commands.push(...listSubstituted(text).flatMap(splitCommands))
      i = end
    } else if (SEPARATORS.has(char)) endCommand()
    else if (/\s/.test(char)) endWord()
    else word = (word ?? '') + char
  }
  endCommand()
  return commands
}

/** A text in quotes, from the one at `start`; one that is not closed goes to the end. */
function readQuoted(line: string, start: number): { text: string; end: number } {
  const quote = line.charAt(start)
  let text = ''
  for (let i = start + 1; i < line.length; i++) {
    const char = line.charAt(i)
    if (char === quote) return { text, end: i }
    if (char === '\\' && quote === '"') text += line.charAt(++i)
    else text += char
  }
  return { text, end: line.length }
}

function listSubstituted(text: string): string[] {
  return [...text.matchAll(/\$\(([^()]*)\)|`([^`]*)`/g)].map(([, a, b]) => a ?? b ?? '')
}
