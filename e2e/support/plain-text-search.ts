import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createBrotliDecompress, createInflate, createInflateRaw, createZstdDecompress } from 'node:zlib'
import postgres from 'postgres'

/*
 * Looks for a text wherever a service could have put it: as it is, in the usual encodings, and inside anything compressed,
 * also when that begins in the middle of other bytes (a frame in a pack, a value in a dump).
 */

const MAX_DEPTH = 3
const MAX_UNPACKED_BYTES = 64 * 1024 * 1024

const unpackers = [
  { magic: Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), skip: 0, open: createZstdDecompress },
  // gzip is ten bytes of head before a deflate stream, which, unlike gunzip, does not mind what follows it.
  { magic: Buffer.from([0x1f, 0x8b, 0x08]), skip: 10, open: createInflateRaw },
  ...[0x01, 0x5e, 0x9c, 0xda].map((level) => ({
    magic: Buffer.from([0x78, level]),
    skip: 0,
    open: createInflate,
  })),
]

/** True when `bytes` hold `text`, in clear or in a form that anybody can undo without a key. */
async function holds(bytes: Buffer, text: string, depth = 0): Promise<boolean> {
  if (formsOf(text).some((form) => bytes.includes(form))) return true
  if (depth === MAX_DEPTH) return false
  if (depth === 0)
    for (const open of [createInflateRaw, createBrotliDecompress]) {
      const inner = await unpack(open, bytes)
      if (inner.length > 0 && (await holds(inner, text, depth + 1))) return true
    }
  for (const { magic, skip, open } of unpackers)
    for (let at = bytes.indexOf(magic); at >= 0; at = bytes.indexOf(magic, at + 1)) {
      const inner = await unpack(open, bytes.subarray(at + skip))
      if (inner.length > 0 && (await holds(inner, text, depth + 1))) return true
    }
  return false
}

/** Files below `folder` that hold `text`. */
export async function filesHolding(folder: string, text: string): Promise<string[]> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  const found: string[] = []
  for (const file of files) {
    const path = join(file.parentPath, file.name)
    if (await holds(readFileSync(path), text)) found.push(path)
  }
  return found
}

/** Columns of the database, as `schema.table.column`, with a value that holds `text`. */
export async function columnsHolding(databaseUrl: string, text: string): Promise<string[]> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => undefined })
  try {
    const columns = await sql<{ schema: string; table: string; name: string; type: string }[]>`
      select table_schema as schema, table_name as "table", column_name as name, data_type as type
      from information_schema.columns join information_schema.tables using (table_schema, table_name)
      where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`
    if (columns.length === 0) throw new Error('the database has no tables: nothing was searched')
    const found: string[] = []
    for (const { schema, table, name, type } of columns) {
      const value = type === 'bytea' ? sql`${sql(name)}` : sql`convert_to(${sql(name)}::text, 'UTF8')`
      const rows = await sql<
        { value: Buffer | null }[]
      >`select ${value} as value from ${sql(schema)}.${sql(table)}`
      for (const row of rows)
        if (row.value !== null && (await holds(row.value, text))) {
          found.push(`${schema}.${table}.${name}`)
          break
        }
    }
    return found
  } finally {
    await sql.end()
  }
}

function formsOf(text: string): Buffer[] {
  const bytes = Buffer.from(text)
  // Base64 of a text depends on where in a group of three it begins; the letters that its neighbours share are cut off.
  const base64 = [0, 1, 2].map((shift) => {
    const letters = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .replace(/=+$/, '')
    return letters.slice(shift === 0 ? 0 : shift + 1, letters.length - 1)
  })
  const forms = [
    text,
    encodeURIComponent(text),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    ...base64,
    ...base64.map((letters) => letters.replaceAll('+', '-').replaceAll('/', '_')),
  ]
  return [...forms.map((form) => Buffer.from(form)), Buffer.from(text, 'utf16le')]
}

/** What comes out before the end or the first error: bytes behind a frame belong to somebody else. */
function unpack(
  open: (typeof unpackers)[number]['open'] | typeof createBrotliDecompress,
  bytes: Buffer,
): Promise<Buffer> {
  return new Promise((done) => {
    const out: Buffer[] = []
    let size = 0
    const stream = open()
    const finish = () => {
      stream.destroy()
      done(Buffer.concat(out))
    }
    stream.on('data', (chunk: Buffer) => {
      out.push(chunk)
      size += chunk.length
      if (size > MAX_UNPACKED_BYTES) finish()
    })
    stream.once('end', finish).once('error', finish)
    stream.end(bytes)
  })
}
