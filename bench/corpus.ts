import { createHash } from 'node:crypto'
import {
  copyFileSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, extname, join, relative } from 'node:path'

/** What a tree for measuring has; the shape of the one that the goals were set with. */
export interface CorpusSize {
  readonly files: number
  readonly bytes: number
  /** Files below `node_modules/`, which git ignores and the client leaves out. */
  readonly ignored: number
}

export const FULL: CorpusSize = { files: 4686, bytes: 123_800_000, ignored: 30_000 }
export const SMALL: CorpusSize = { files: 468, bytes: 12_400_000, ignored: 3000 }

export interface Corpus {
  readonly root: string
  /** Relative to the root, sorted: the files that are edited. */
  readonly files: readonly string[]
  readonly bytes: number
  readonly folders: number
  readonly ignored: number
}

export interface Source {
  readonly from: string
  /** Path in the corpus. */
  readonly to: string
  readonly sizeBytes: number
}

const TEXT = new Set(
  '.js .mjs .cjs .ts .mts .cts .tsx .jsx .json .md .css .scss .html .svelte .vue .yml .yaml'.split(' '),
)
const MIN_BYTES = 2000
const MAX_BYTES = 2_400_000
/** Gives about three files to a directory, as the tree had that the goals were set with. */
const FILES_PER_FOLDER = 14
const IGNORED_PER_FOLDER = 12

/** Text files of the packages that this checkout has installed. The same ones for the same lock file. */
export function chooseSources(checkout: string, size: CorpusSize): Source[] {
  return choose(listSources(join(checkout, 'node_modules/.pnpm')), size)
}

/** Lays the files down, with what git ignores beside them. Ten copies differ by one line in each file. */
export function makeCorpus(
  root: string,
  chosen: readonly Source[],
  { ignored, copies }: { readonly ignored: number; readonly copies: number },
): Corpus {
  const files: string[] = []
  let bytes = 0
  const folders = new Set<string>()
  for (let copy = 0; copy < copies; copy++) {
    for (const { from, to } of chosen) {
      const path = copies === 1 ? `src/${to}` : `part-${copy}/${to}`
      const target = join(root, path)
      mkdirSync(dirname(target), { recursive: true })
      if (copies === 1) copyFileSync(from, target)
      else writeFileSync(target, changeOneLine(readFileSync(from), copy))
      bytes += statSync(target).size
      files.push(path)
      for (let at = dirname(path); at !== '.'; at = dirname(at)) folders.add(at)
    }
  }
  writeFileSync(join(root, '.gitignore'), 'node_modules/\n.env\n.env.*\n')
  writeFileSync(join(root, '.env'), 'DATABASE_URL=postgres://app:example@localhost/app\nPORT=3000\n')
  writeFileSync(join(root, '.env.local'), 'SESSION_KEY=not-a-real-one\n')
  makeIgnored(root, ignored)
  return { root, files: files.sort(), bytes, folders: folders.size, ignored }
}

function makeIgnored(root: string, count: number): void {
  for (let made = 0; made < count; made++) {
    const folder = join(root, 'node_modules', `dependency-${Math.floor(made / IGNORED_PER_FOLDER)}`)
    if (made % IGNORED_PER_FOLDER === 0) mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, `m${made}.js`), `module.exports = ${made}\n`.repeat(20))
  }
}

function changeOneLine(bytes: Buffer, copy: number): Buffer {
  const half = bytes.indexOf(10, Math.floor(bytes.length / 2))
  const at = half < 0 ? bytes.length : half + 1
  return Buffer.concat([
    bytes.subarray(0, at),
    Buffer.from(`// this line is of copy ${copy}\n`),
    bytes.subarray(at),
  ])
}

/** Directories in the order of a hash of their name, not of the disk. */
function choose(sources: readonly Source[], size: CorpusSize): Source[] {
  const folders = new Map<string, Source[]>()
  for (const source of sources) {
    const folder = dirname(source.to)
    const group = folders.get(folder)
    if (group === undefined) folders.set(folder, [source])
    else group.push(source)
  }
  const order = [...folders.values()]
    .map((group) => byHash(group, ({ to }) => to).slice(0, FILES_PER_FOLDER))
    .filter((group) => group.length > 0)
  const waiting = byHash(order, (group) => dirname(group[0]?.to ?? ''))
  return steer(waiting, size)
}

/** Takes directories so that the number of files and their mean size both come out as wanted. */
function steer(waiting: readonly Source[][], { files, bytes }: CorpusSize): Source[] {
  const mean = bytes / files
  const chosen: Source[] = []
  let total = 0
  let heavy = waiting.filter((group) => meanOf(group) > mean)
  let light = waiting.filter((group) => meanOf(group) <= mean)
  while (chosen.length < files && heavy.length + light.length > 0) {
    const wantsHeavy = (total < mean * chosen.length && heavy.length > 0) || light.length === 0
    const [group = []] = wantsHeavy ? heavy : light
    if (wantsHeavy) heavy = heavy.slice(1)
    else light = light.slice(1)
    for (const source of group.slice(0, files - chosen.length)) {
      chosen.push(source)
      total += source.sizeBytes
    }
  }
  if (chosen.length < files) throw new Error(`only ${chosen.length} of ${files} text files are installed`)
  return chosen
}

function meanOf(group: readonly Source[]): number {
  return group.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) / group.length
}

function byHash<T>(items: readonly T[], name: (item: T) => string): T[] {
  return items
    .map((item) => ({ item, key: createHash('sha256').update(name(item)).digest('hex') }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ item }) => item)
}

function listSources(top: string): Source[] {
  const found: Source[] = []
  const contents = new Set<string>()
  const walk = (folder: string, below: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const from = join(folder, entry.name)
      // Without what programs make, by name, and without what nobody may capture.
      if (/^(\.|node_modules$|__pycache__$|DerivedData$|bower_components$)/.test(entry.name)) continue
      if (entry.isDirectory()) walk(from, `${below}/${entry.name}`)
      else if (entry.isFile() && TEXT.has(extname(entry.name))) {
        const sizeBytes = statSync(from).size
        if (sizeBytes < MIN_BYTES || sizeBytes > MAX_BYTES) continue
        const bytes = readFileSync(from)
        const content = createHash('sha256').update(bytes).digest('hex')
        if (bytes.includes(0) || contents.has(content)) continue
        contents.add(content)
        found.push({ from, to: `${below}/${entry.name}`, sizeBytes })
      }
    }
  }
  for (const { folder, name } of listPackages(top)) walk(folder, name)
  return found
}

/** What the package manager has unpacked, by name and version: `node_modules/.pnpm/NAME@VERSION/node_modules/NAME`. */
function listPackages(top: string): { folder: string; name: string }[] {
  return globSync('*/node_modules/{[!@]*,@*/*}', { cwd: top, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((folder) => {
      const [version = '', name = ''] = relative(top, folder).split('/node_modules/')
      return {
        folder,
        name: `${name.replace('/', '-').replace('@', '')}-${/@([0-9][^_()]*)/.exec(version)?.[1] ?? 'x'}`,
      }
    })
}
