import { randomBytes } from 'node:crypto'
import type { TurnId } from '@turnback/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectProblem } from './set-up/call.ts'
import {
  entryOf,
  fileState,
  makePack,
  plainId,
  sealedFrame,
  TestLog,
  type TestMachine,
  zstdFrame,
} from './set-up/machine.ts'
import { Stack, type TestPerson } from './set-up/stack.ts'

let stack: Stack
let ada: TestPerson
let machine: TestMachine
let project: string

const before = 'one\ntwo\nthree\n'
const after = 'one\n2\nthree\n'
const sealed = sealedFrame()
const binary = Buffer.concat([Buffer.from([0, 1, 2]), randomBytes(40)])
const big = 'a line of a file that is too big to be compared here\n'.repeat(30_000)

let made: TurnId

beforeAll(async () => {
  stack = await Stack.start()
  ada = await stack.person('Ada')
  machine = await stack.machine(ada)
  project = machine.project
  const workspace = await machine.workspace()
  const log = new TestLog(machine, workspace)
  const frames = [before, after, binary, big].map((content) => zstdFrame(content))
  await machine.putPack(workspace, makePack([...frames, sealed]))
  const state = (kind: string) => ({
    ...fileState(''),
    blob: kind === 'sealed' ? sealed.id : plainId(binary),
    sizeBytes: 43,
  })
  const entries = [
    { ...entryOf('.env', null, null), after: state('sealed'), sealed: true },
    { ...entryOf('bin.dat', null, null), after: state('binary') },
    entryOf('big.txt', null, big),
    entryOf('docs/a b.txt', null, after),
    {
      ...entryOf('huge.iso', null, null),
      after: { kind: 'skipped', reason: 'too-large', sizeBytes: 9e9 } as const,
    },
    { ...entryOf('link', null, null), after: { kind: 'symlink', target: 'src/app.ts' } as const },
    { ...entryOf('run.sh', after, after), after: fileState(after, 0o755) },
    entryOf('src/app.ts', before, after),
    { ...entryOf('tmp', null, null), after: { kind: 'dir', mode: 0o755 } as const },
  ]
  for (let n = 0; n < 5; n++)
    await log.push({
      session: n < 2 ? 'early' : 'late',
      prompt: `step ${n} 100%`,
      kind: n === 4 ? 'checkpoint' : 'agent',
    })
  made = (await log.push({ entries, prompt: 'change the number' })).manifest.turn
  const last = await log.push({
    entries: [entryOf('src/app.ts', after, before)],
    agent: { name: 'codex', version: null },
  })
  expect(last.answer.status).toBe(200)
})
afterAll(() => stack.stop())

const list = async (query = '') => (await ada.call('GET', `/v1/projects/${project}/turns${query}`)).json

describe('the list', () => {
  test('is newest first, in pages that neither repeat nor leave out', async () => {
    const whole = await list()
    expect(whole.items.map((item: { number: number }) => item.number)).toEqual([7, 6, 5, 4, 3, 2, 1])
    expect(whole.nextCursor).toBeNull()
    const paged: number[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page: { items: { number: number }[]; nextCursor: string | null } = await list(
        `?limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`,
      )
      paged.push(...page.items.map((item) => item.number))
      cursor = page.nextCursor
    }
    expect(paged).toEqual([7, 6, 5, 4, 3, 2, 1])
    expectProblem(
      await ada.call('GET', `/v1/projects/${project}/turns?cursor=nonsense!`),
      400,
      'VALIDATION_FAILED',
    )
    expectProblem(await ada.call('GET', `/v1/projects/${project}/turns?limit=201`), 400, 'VALIDATION_FAILED')
  })

  test.each<[string, number[]]>([
    ['session=early', [2, 1]],
    ['agent=codex', [7]],
    ['kind=checkpoint', [5]],
    ['path=src/app.ts', [7, 6]],
    ['path=src', [7, 6]],
    ['path=sr', []],
    ['path=docs', [6]],
    ['q=NUMBER', [6]],
    ['q=docs/a', [6]],
    ['q=100%25', [5, 4, 3, 2, 1]],
    ['q=1__%25', []],
    ['endReason=failed', []],
    ['since=2030-01-01T00:00:00Z', []],
    ['until=2030-01-01T00:00:00Z&limit=2', [7, 6]],
    ['agent=claude-code&session=late&kind=agent', [4, 3]],
  ])('%s gives %j', async (query, numbers) => {
    expect((await list(`?${query}`)).items.map((item: { number: number }) => item.number)).toEqual(numbers)
  })
})

test('a turn knows its neighbours and tells what its manifest says', async () => {
  const { json } = await ada.call('GET', `/v1/turns/${made}`)
  expect(json.summary).toMatchObject({
    workspaceName: 'site',
    machineName: 'laptop',
    ownerName: 'Ada',
    machineOnline: false,
    sealed: 1,
  })
  expect(json.manifest).toMatchObject({ turn: made, seq: 6, prompt: 'change the number' })
  expect(json.manifest.entries).toBeUndefined()
  expect((await ada.call('GET', `/v1/turns/${json.previousTurn}`)).json.nextTurn).toBe(made)
  expect((await ada.call('GET', `/v1/turns/${json.nextTurn}`)).json.nextTurn).toBeNull()
})

test('entries come by path, in pages', async () => {
  const { json } = await ada.call('GET', `/v1/turns/${made}/entries?limit=5`)
  const rest = await ada.call('GET', `/v1/turns/${made}/entries?cursor=${json.nextCursor}`)
  const paths = [...json.items, ...rest.json.items].map((entry: { path: string }) => entry.path)
  expect(paths).toEqual([
    '.env',
    'big.txt',
    'bin.dat',
    'docs/a b.txt',
    'huge.iso',
    'link',
    'run.sh',
    'src/app.ts',
    'tmp',
  ])
  expect(rest.json.nextCursor).toBeNull()
})

describe('the diff', () => {
  test('shows what can be shown, and says why the rest is not', async () => {
    const { json } = await ada.call('GET', `/v1/turns/${made}/diff`)
    const byPath = Object.fromEntries(json.items.map((item: { path: string }) => [item.path, item]))
    expect(byPath['src/app.ts']).toMatchObject({
      status: 'modified',
      additions: 1,
      deletions: 1,
      binary: false,
      withheld: null,
    })
    expect(byPath['src/app.ts'].patch).toContain('-two\n+2\n')
    expect(byPath['src/app.ts'].hunks).toHaveLength(1)
    expect(byPath['.env']).toMatchObject({ status: 'added', patch: null, withheld: 'sealed', hunks: [] })
    expect(byPath['big.txt']).toMatchObject({ patch: null, withheld: 'too-large' })
    expect(byPath['bin.dat']).toMatchObject({ patch: null, withheld: null, binary: true })
    expect(byPath['huge.iso']).toMatchObject({ patch: null, withheld: 'skipped' })
    expect(byPath.tmp).toMatchObject({ patch: null, withheld: 'not-a-file' })
    expect(byPath['run.sh']).toMatchObject({ status: 'mode' })
    expect(byPath['run.sh'].patch).toContain('new mode 100755')
    expect(byPath.link.patch).toContain('new file mode 120000')
  })

  test('comes for one path, in pages, and as a patch', async () => {
    const one = await ada.call('GET', `/v1/turns/${made}/diff?path=src/app.ts`)
    expect(one.json.items.map((item: { path: string }) => item.path)).toEqual(['src/app.ts'])
    expectProblem(await ada.call('GET', `/v1/turns/${made}/diff?path=nothing`), 404, 'PATH_NOT_FOUND')
    const page = await ada.call('GET', `/v1/turns/${made}/diff?limit=4`)
    const rest = await ada.call('GET', `/v1/turns/${made}/diff?cursor=${page.json.nextCursor}`)
    expect(page.json.items.length + rest.json.items.length).toBe(9)
    const patch = await ada.call('GET', `/v1/turns/${made}/diff?path=src/app.ts&format=patch`)
    expect(patch.headers['content-type']).toBe('text/plain; charset=utf-8')
    expect(patch.text).toMatch(/^diff --git a\/src\/app.ts b\/src\/app.ts\n--- a/)
  })
})

describe('a file', () => {
  const file = (path: string, side: string) =>
    ada.call('GET', `/v1/turns/${made}/files/${encodeURIComponent(path)}?side=${side}`)

  test('comes as text to be saved, never as a page', async () => {
    const answer = await file('src/app.ts', 'before')
    expect(answer.text).toBe(before)
    expect((await file('docs/a b.txt', 'after')).text).toBe(after)
    expect(answer.headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'content-disposition': 'attachment; filename="file.txt"',
    })
    expect(answer.headers['content-security-policy']).toContain("default-src 'none'")
  })

  test.each<[string, string, number, 'DIFF_UNAVAILABLE' | 'PATH_NOT_FOUND']>([
    ['.env', 'after', 422, 'DIFF_UNAVAILABLE'],
    ['huge.iso', 'after', 422, 'DIFF_UNAVAILABLE'],
    ['docs/a b.txt', 'before', 422, 'DIFF_UNAVAILABLE'],
    ['nothing', 'after', 404, 'PATH_NOT_FOUND'],
    ['../../../etc/passwd', 'after', 404, 'PATH_NOT_FOUND'],
  ])('%s %s: %d %s', async (path, side, status, code) => {
    expectProblem(await file(path, side), status, code)
  })

  test('whose bytes are gone is not found, and its diff says so', async () => {
    await stack.database.sql`update blobs set id = ${plainId('moved away')} where id = ${plainId(before)}`
    expectProblem(await file('src/app.ts', 'before'), 404, 'BLOB_NOT_FOUND')
    const diff = await ada.call('GET', `/v1/turns/${made}/diff?path=src/app.ts`)
    expect(diff.json.items[0]).toMatchObject({ withheld: 'missing', patch: null })
    await stack.database.sql`update blobs set id = ${plainId(before)} where id = ${plainId('moved away')}`
  })
})

describe('an answer that the caller has', () => {
  const addresses: [string, () => string][] = [
    ['the turn', () => `/v1/turns/${made}`],
    ['entries', () => `/v1/turns/${made}/entries?limit=5`],
    ['the diff', () => `/v1/turns/${made}/diff?limit=4`],
    ['a patch', () => `/v1/turns/${made}/diff?path=src/app.ts&format=patch`],
    ['a file', () => `/v1/turns/${made}/files/src%2Fapp.ts?side=before`],
  ]
  const again = (url: string, etag: unknown, who = ada) =>
    who.call('GET', url, { headers: { 'if-none-match': String(etag) } })

  test.each(addresses)('%s is not sent again', async (_what, urlOf) => {
    const first = await ada.call('GET', urlOf())
    expect(first.headers).toMatchObject({ 'cache-control': 'private, no-cache' })
    expect(first.headers.etag).toMatch(/^"[\w-]{43,}"$/)
    const second = await again(urlOf(), first.headers.etag)
    expect({ status: second.status, text: second.text, etag: second.headers.etag }).toEqual({
      status: 304,
      text: '',
      etag: first.headers.etag,
    })
    expect((await again(urlOf(), '"another"')).text).toBe(first.text)
  })

  test.each(addresses)('%s is nobody’s who may not read it, tag or no tag', async (_what, urlOf) => {
    const { etag } = (await ada.call('GET', urlOf())).headers
    const eve = await stack.person('Eve')
    expectProblem(await again(urlOf(), etag, eve), 404, 'TURN_NOT_FOUND')
  })

  test('has a tag of its own for each query and side', async () => {
    const urls = [
      ...addresses.map(([, urlOf]) => urlOf()),
      `/v1/turns/${made}/entries?limit=6`,
      `/v1/turns/${made}/diff?limit=5`,
      `/v1/turns/${made}/diff?path=src/app.ts`,
      `/v1/turns/${made}/files/src%2Fapp.ts?side=after`,
    ]
    const tags: unknown[] = []
    for (const url of urls) tags.push((await ada.call('GET', url)).headers.etag)
    expect(new Set(tags).size).toBe(urls.length)
  })

  test('the turn is sent again when a mark or its machine’s state has changed', async () => {
    const url = `/v1/turns/${made}`
    const { etag } = (await ada.call('GET', url)).headers
    await stack.database.sql`update turns set undone = 'partly' where id = ${made}`
    const marked = await again(url, etag)
    expect(marked.json.summary.undone).toBe('partly')
    await stack.database.sql`update machines set online_until = now() + interval '1 hour'`
    expect((await again(url, marked.headers.etag)).json.summary.machineOnline).toBe(true)
    await stack.database.sql`update machines set online_until = null`
    await stack.database.sql`update turns set undone = 'no' where id = ${made}`
    expect((await again(url, etag)).status).toBe(304)
  })

  test('a diff that lacks bytes, and a refusal, have no tag', async () => {
    await stack.database.sql`update blobs set id = ${plainId('moved away')} where id = ${plainId(before)}`
    const url = `/v1/turns/${made}/diff?path=src/app.ts`
    expect((await ada.call('GET', url)).headers.etag).toBeUndefined()
    const gone = await ada.call('GET', `/v1/turns/${made}/files/src%2Fapp.ts?side=before`)
    expect({ status: gone.status, etag: gone.headers.etag }).toEqual({ status: 404, etag: undefined })
    await stack.database.sql`update blobs set id = ${plainId(before)} where id = ${plainId('moved away')}`
    expect((await ada.call('GET', url)).headers.etag).toBeDefined()
  })
})
