import type { Context } from './context.ts'

export type ParseOption = (typed: string, before: unknown) => unknown

/** How commands that agents wait for say their options: a part of what commander can do, so that they can do without it. */
export interface PlainBuilder {
  command(name: string): PlainBuilder
  description(text: string): PlainBuilder
  /** A word that has to be there, `<name>`, or may be: `[name]`. */
  argument(name: string, description: string): PlainBuilder
  /** `--flag <value>`, with what it is when it is not given. */
  option(flags: string, description: string, fallback?: string): PlainBuilder
  /** `--flag <value>` that may be given again. */
  listOption(flags: string, description: string): PlainBuilder
  /** `--flag <value>`. `check` throws for a value that is none. */
  requiredOption(flags: string, description: string, check?: (typed: string) => string): PlainBuilder
  /** Words first, then the options: as in commander, what the command says of their types is what they are. */
  action(run: (...values: never[]) => void | Promise<void>): PlainBuilder
}

export type PlainRegister = (program: PlainBuilder, context: Context) => void

interface PlainOption {
  readonly property: string
  readonly isRequired: boolean
  readonly parse: ParseOption
}

/** A line that was understood: what to do with which options. */
export interface PlainLine {
  readonly common: { readonly C?: string; readonly json?: boolean }
  run(): void | Promise<void>
}

/**
 * Understands the lines that agents send, without loading commander, which takes longer than many of these commands do.
 * Whatever is not plainly right (a mistake, `--help`, an unusual spelling) is null: commander then judges the same words.
 */
export function parsePlainly(
  name: string,
  argv: readonly string[],
  register: PlainRegister,
  context: Context,
): PlainLine | null {
  const recorded = new Recorder()
  register(recorded, context)
  const words = findWords(argv, name)
  const given = words === null ? null : sortWords(words, recorded)
  const { run } = recorded
  if (given === null || run === null || !recorded.takes(given.positional.length)) return null
  const missing = Array.from({ length: recorded.words.length - given.positional.length }, () => undefined)
  for (const { isRequired, property } of recorded.options.values())
    if (isRequired && !given.values.has(property)) return null
  return {
    common: given.common,
    run: () => run(...given.positional, ...missing, Object.fromEntries(given.values)),
  }
}

interface Given {
  readonly values: ReadonlyMap<string, unknown>
  readonly positional: readonly string[]
  readonly common: PlainLine['common']
}

function sortWords(words: readonly string[], { options, fallbacks }: Recorder): Given | null {
  const values = new Map(fallbacks)
  const positional: string[] = []
  const common: { C?: string; json?: boolean } = {}
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? ''
    if (word === '--json') common.json = true
    else if (!word.startsWith('-')) positional.push(word)
    else {
      const taken = takeValue(word, words[i + 1])
      const option = options.get(taken?.flag ?? '')
      if (taken === null || (option === undefined && taken.flag !== '-C')) return null
      if (taken.isNextWord) i++
      if (option === undefined) common.C = taken.value
      else values.set(option.property, option.parse(taken.value, values.get(option.property)))
    }
  }
  return { values, positional, common }
}

/**
 * The words without the command's name; null when there is a `--`, after which nothing is an option, or an option of the
 * command stands before its name.
 */
function findWords(argv: readonly string[], name: string): readonly string[] | null {
  if (argv.includes('--')) return null
  const at = argv.findIndex((word, i) => word === name && argv[i - 1] !== '-C')
  const before = argv.slice(0, at)
  if (before.some((word, i) => word !== '-C' && word !== '--json' && before[i - 1] !== '-C')) return null
  return [...before, ...argv.slice(at + 1)]
}

/** `--flag value` and `--flag=value`; null for anything else that begins with `-`. */
function takeValue(
  word: string,
  next: string | undefined,
): { flag: string; value: string; isNextWord: boolean } | null {
  const [, flag, value] = /^(--[a-z-]+)=(.*)$/s.exec(word) ?? []
  if (flag !== undefined && value !== undefined) return { flag, value, isNextWord: false }
  if (next === undefined || (next.startsWith('-') && next !== '-')) return null
  return { flag: word, value: next, isNextWord: true }
}

class Recorder implements PlainBuilder {
  readonly options = new Map<string, PlainOption>()
  readonly fallbacks: [property: string, value: unknown][] = []
  readonly words: string[] = []
  run: ((...values: unknown[]) => void | Promise<void>) | null = null

  command(): this {
    return this
  }

  description(): this {
    return this
  }

  argument(name: string): this {
    this.words.push(name)
    return this
  }

  takes(count: number): boolean {
    const needed = this.words.filter((word) => word.startsWith('<')).length
    return count >= needed && count <= this.words.length
  }

  option(flags: string, _: string, fallback?: string): this {
    return this.#add(flags, false, asTyped, fallback)
  }

  listOption(flags: string): this {
    return this.#add(flags, false, collect, [])
  }

  requiredOption(flags: string, _: string, check: ParseOption = asTyped): this {
    return this.#add(flags, true, check, undefined)
  }

  action(run: (...values: never[]) => void | Promise<void>): this {
    this.run = (...values) => Reflect.apply(run, undefined, values)
    return this
  }

  #add(flags: string, isRequired: boolean, parse: ParseOption, fallback: unknown): this {
    const flag = flags.slice(0, flags.indexOf(' '))
    const property = flag.slice(2).replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
    if (fallback !== undefined) this.fallbacks.push([property, fallback])
    this.options.set(flag, { property, isRequired, parse })
    return this
  }
}

const asTyped: ParseOption = (typed) => typed

/** Adds to what was given before. */
export const collect: ParseOption = (typed, before) => (Array.isArray(before) ? [...before, typed] : [typed])
