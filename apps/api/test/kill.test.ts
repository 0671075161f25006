import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openFsObjectStore } from '#objects/fs-object-store.ts'
import {
  entryOf,
  type Frame,
  makePack,
  sha256,
  TestLog,
  type TestMachine,
  zstdFrame,
} from './set-up/machine.ts'
import { Stack } from './set-up/stack.ts'

/** The service starts several times here: what Node compiled once is kept. */
const compileCache = join(tmpdir(), 'turnback-compile-cache')
const runner = fileURLToPath(new URL('./set-up/run-service.ts', import.meta.url))

let stack: Stack
let machine: TestMachine
let dataDir: string
let child: ChildProcess
let url: string

/** The service as a process on the stack's database, with an object folder of its own. */
async function start(): Promise<void> {
  const env = {
    ...process.env,
    DATABASE_URL: stack.databaseUrl,
    TURNBACK_DATA: dataDir,
    PORT: '4700',
    LOG_LEVEL: 'silent',
  }
  child = spawn(process.execPath, [runner], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  if (child.stdout === null) throw new Error('no pipe')
  const [line] = await once(child.stdout, 'data')
  url = String(line).trim()
}

async function kill(): Promise<void> {
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

beforeAll(async () => {
  stack = await Stack.start()
  machine = await stack.machine(await stack.person('Ada'))
  dataDir = mkdtempSync(join(tmpdir(), 'turnback-kill-'))
  await start()
})
afterAll(async () => {
  await kill()
  rmSync(dataDir, { recursive: true, force: true })
  await stack.stop()
})

type Moment = 'half-sent' | 'sent' | 'a-little-later' | 'never'

/** Null when the service went away before it answered. The service is killed at the moment that is named. */
function put(path: string, body: Uint8Array, contentType: string, moment: Moment): Promise<number | null> {
  return new Promise((resolve) => {
    const headers = {
      authorization: machine.authorization('PUT', path, body),
      'content-type': contentType,
      'content-length': body.length,
    }
    const sent = request(new URL(path, url), { method: 'PUT', headers }, (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
      response.on('error', () => resolve(null))
    })
    sent.on('error', () => resolve(null))
    const shoot = () => child.kill('SIGKILL')
    if (moment === 'half-sent') sent.write(body.subarray(0, body.length / 2), shoot)
    else sent.end(body, () => shootLater(moment, shoot))
  })
}

function shootLater(moment: Moment, shoot: () => void): void {
  if (moment === 'sent') shoot()
  if (moment === 'a-little-later') setTimeout(shoot, 15)
}

const MOMENTS: { pack: Moment; turn: Moment }[] = [
  { pack: 'half-sent', turn: 'never' },
  { pack: 'a-little-later', turn: 'never' },
  { pack: 'never', turn: 'sent' },
  { pack: 'never', turn: 'a-little-later' },
]

test('killed at every stage of a push, the service loses nothing and doubles nothing', {
  timeout: 300_000,
}, async () => {
  const workspace = await machine.workspace()
  const log = new TestLog(machine, workspace)
  const pushed: { turn: string; frames: Frame[] }[] = []
  let interrupted = 0
  for (const moment of MOMENTS) {
    const contents = Array.from({ length: 40 }, () => randomBytes(20_000).toString('hex'))
    const frames = contents.map((content) => zstdFrame(content))
    const pack = makePack(frames)
    const manifest = log.manifest({
      entries: contents.map((content, i) => entryOf(`f${i}.txt`, null, content)),
    })
    const envelope = machine.envelope('turn', manifest)
    const push = async (shot: { pack: Moment; turn: Moment }) => {
      const packPath = `/v1/workspaces/${workspace}/packs/${sha256(pack)}`
      const packed = await put(packPath, pack, 'application/vnd.turnback.pack', shot.pack)
      if (packed !== 200) return packed
      const body = zstdCompressSync(envelope)
      return await put(
        `/v1/turns/${manifest.turn}`,
        body,
        'application/vnd.turnback.envelope+zstd',
        shot.turn,
      )
    }
    if ((await push(moment)) !== 200) interrupted += 1
    if (child.exitCode === null && child.signalCode === null) await kill()
    await start()
    expect(await push({ pack: 'never', turn: 'never' })).toBe(200)
    log.advance(manifest.seq, sha256(envelope))
    pushed.push({ turn: manifest.turn, frames })
  }
  // The fault was really there: what was half sent was certainly cut off.
  expect(interrupted).toBeGreaterThanOrEqual(1)
  await expectWhole(workspace, pushed)
})

async function expectWhole(workspace: string, pushed: { turn: string; frames: Frame[] }[]): Promise<void> {
  const { sql } = stack.database
  const turns = await sql`select id, seq from turns where workspace_id = ${workspace} order by seq`
  expect(turns.map((row) => row.id)).toEqual(pushed.map(({ turn }) => turn))
  expect(turns.map((row) => row.seq)).toEqual(pushed.map((_, n) => n + 1))
  const [counted] = await sql`select turn_count::int as n, head_seq from workspaces where id = ${workspace}`
  expect(counted).toEqual({ n: pushed.length, head_seq: pushed.length })
  const [entries] =
    await sql`select count(*)::int as n from turn_entries e join turns t on t.id = e.turn_id where t.workspace_id = ${workspace}`
  expect(entries).toEqual({ n: pushed.length * 40 })
  const objects = await openFsObjectStore(join(dataDir, 'objects'))
  for (const frame of pushed.flatMap(({ frames }) => frames)) {
    const [blob] = await sql`select * from blobs where id = ${frame.id}`
    const key = `packs/${blob?.project_id}/${String(blob?.pack_id).slice(0, 2)}/${blob?.pack_id}`
    const stored = await objects.read(key, Number(blob?.offset_bytes), Number(blob?.stored_bytes))
    expect(Buffer.compare(stored, frame.stored)).toBe(0)
  }
}

test('a service that stops in good order leaves no process of the database behind', {
  timeout: 120_000,
}, async () => {
  const own = mkdtempSync(join(tmpdir(), 'turnback-stop-'))
  const env = {
    ...process.env,
    TURNBACK_DATA: own,
    PORT: '4720',
    LOG_LEVEL: 'silent',
    NODE_COMPILE_CACHE: compileCache,
  }
  const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))
  const served = spawn(process.execPath, [main], {
    env: { ...env, DATABASE_URL: undefined },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  served.stderr.on('data', (chunk) => {
    said += String(chunk)
  })
  await expect
    .poll(() => said, { timeout: 60_000 })
    .toMatch(/once, within a day: http:\/\/127\.0\.0\.1:47\d\d\/setup#\S{43}/)
  served.kill('SIGTERM')
  expect((await once(served, 'exit'))[0]).toBe(0)
  // The folder can only be removed whole when nobody writes there any more.
  rmSync(own, { recursive: true })
})
