import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { runChatCommand } from '#chat/run-chat-command.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'turnback-chat-run-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** @param script stands for the command line */
function run(script: string, waitMs: number): Promise<string> {
  const program = join(folder, 'program')
  writeFileSync(program, `#!/bin/sh\n${script}\n`)
  chmodSync(program, 0o755)
  return runChatCommand(
    { words: ['undo', '--path', "a b'c"], isOfSession: true },
    { program, folder, session: 'S', callerPid: 7, env: process.env, waitMs },
  )
}

test('words reach the command line as they are; what it says on both outputs is the answer', async () => {
  const said = await run('for word; do echo "<$word>"; done; echo talk >&2; exit 3', 30_000)
  const words = ['-C', folder, 'undo', '--session=S', '--asked-by=7', '--path', "a b'c"]
  expect(said).toBe([...words.map((word) => `<${word}>`), 'talk'].join('\n'))
})

test('one that takes long is said to go on, and does, though nobody reads what it says', async () => {
  const script = `echo waits
    while ! [ -e "${folder}/go" ]; do sleep 0.05; done
    echo talk >&2 && echo said && : >"${folder}/done"`
  const said = await run(script, 500)
  expect(said).toMatch(/Turnback is still at it\. `turnback log`/)
  writeFileSync(join(folder, 'go'), '')
  while (!existsSync(join(folder, 'done'))) await new Promise((done) => setTimeout(done, 20))
})

test('a program that is not there is said', async () => {
  const place = {
    program: '/nowhere/turnback',
    folder,
    session: 'S',
    callerPid: 7,
    env: process.env,
    waitMs: 30_000,
  }
  const said = await runChatCommand({ words: ['log'], isOfSession: false }, place)
  expect(said).toMatch(/^Turnback could not be started: .*ENOENT/)
})
