/** What can be typed, as a shell has to know it. */
export interface CommandWords {
  readonly name: string
  readonly description: string
  /** Words that one of its arguments can be. */
  readonly values: readonly string[]
  readonly options: readonly OptionWords[]
}

export interface OptionWords {
  /** `--session`, `-C`. */
  readonly flags: readonly string[]
  readonly description: string
  readonly takesValue: boolean
}

export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

interface Words {
  readonly commands: readonly CommandWords[]
  /** Options that every command takes. */
  readonly common: readonly OptionWords[]
}

/** The script that a shell reads to complete `turnback`. */
export function completionScript(shell: Shell, words: Words): string {
  switch (shell) {
    case 'bash':
      return bash(words)
    case 'zsh':
      return zsh(words)
    case 'fish':
      return fish(words)
  }
}

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

const flagsOf = (options: readonly OptionWords[]): string[] => options.flatMap(({ flags }) => flags)

/** The first word that is no option, and what comes before it is passed over; the same in bash and zsh but for the array. */
const findName = (array: string, first: number, current: string) => `  local name= i
  for ((i = ${first}; i < ${current}; i++)); do
    case \${${array}[i]} in
      -C) ((i += 1)) ;;
      -*) ;;
      *) name=\${${array}[i]}; break ;;
    esac
  done`

function bash({ commands, common }: Words): string {
  const all = flagsOf(common)
  const cases = commands.map(
    ({ name, values, options }) =>
      `    ${name}) words=${quote([...values, ...flagsOf(options), ...all].join(' '))} ;;`,
  )
  return `# Completes \`turnback\` in bash. In ~/.bashrc: eval "$(turnback completion bash)"
_turnback() {
${findName('COMP_WORDS', 1, 'COMP_CWORD')}
  local words
  case $name in
    '') words=${quote([...commands.map(({ name }) => name), ...all].join(' '))} ;;
${cases.join('\n')}
    *) words= ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _turnback turnback
`
}

function zsh({ commands, common }: Words): string {
  const item = (word: string, description: string) => quote(`${word.replaceAll(':', '\\:')}:${description}`)
  const items = (options: readonly OptionWords[]) =>
    options.flatMap(({ flags, description }) => flags.map((flag) => item(flag, description)))
  const cases = commands.map(({ name, values, options }) => {
    const words = [...values.map((value) => quote(value)), ...items(options), ...items(common)]
    return `    ${name}) words=(${words.join(' ')}) ;;`
  })
  const names = commands.map(({ name, description }) => item(name, description))
  return `#compdef turnback
# Completes \`turnback\` in zsh. In ~/.zshrc, below compinit: eval "$(turnback completion zsh)"
_turnback() {
  local -a words_typed=("\${words[@]}")
${findName('words_typed', 2, 'CURRENT')}
  local -a words
  case $name in
    '') words=(${[...names, ...items(common)].join(' ')}) ;;
${cases.join('\n')}
  esac
  _describe 'turnback' words
  [[ -n $name ]] && _files
}
compdef _turnback turnback
`
}

function fish({ commands, common }: Words): string {
  const isIn = (name: string) => `-n ${quote(`__fish_seen_subcommand_from ${name}`)}`
  const names = commands.map(({ name }) => name).join(' ')
  const none = `-n ${quote(`not __fish_seen_subcommand_from ${names}`)}`
  const option = (when: string, { flags, description, takesValue }: OptionWords) => {
    const words = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`))
    return `complete -c turnback ${[when, ...words, ...(takesValue ? ['-r'] : []), `-d ${quoteForFish(description)}`].filter((part) => part !== '').join(' ')}`
  }
  return [
    '# Completes `turnback` in fish. Once: turnback completion fish > ~/.config/fish/completions/turnback.fish',
    ...common.map((each) => option('', each)),
    ...commands.flatMap(({ name, description, values, options }) => [
      `complete -c turnback -f ${none} -a ${name} -d ${quoteForFish(description)}`,
      ...values.map((value) => `complete -c turnback ${isIn(name)} -a ${value}`),
      ...options.map((each) => option(isIn(name), each)),
    ]),
    '',
  ].join('\n')
}

/** In fish a backslash escapes inside of quotes too. */
const quoteForFish = (text: string): string => `'${text.replace(/['\\]/g, '\\$&')}'`
