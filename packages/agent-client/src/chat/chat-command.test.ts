import { expect, test } from 'vitest'
import { ELSE_MARK, findChatCommand } from './chat-command.ts'
import { listChatFiles } from './chat-files.ts'

const wordsOf = (prompt: string): string | null => {
  const found = findChatCommand(prompt)
  return found === null || found === 'unclear' ? found : found.words.join('|')
}

test.each([
  ['/turnback', 'undo'],
  ['  /rewind \n', 'undo'],
  ['turnback rewind', 'undo'],
  ['turnback undo --dry-run', 'undo|--dry-run'],
  ['/rewind 3', 'restore|3'],
  ['turnback restore @12 --only', 'restore|@12|--only'],
  ["/turnback last --path 'a file' --path=b", 'restore|last|--path|a file|--path=b'],
  ['/turnback t_01jd', 'restore|t_01jd'],
  ['/turnback redo', 'redo'],
  ['/turnback preview 3', 'preview|3'],
])('%j is a command', (prompt, words) => {
  expect(wordsOf(prompt)).toBe(words)
})

test.each([
  'undo that',
  'please run turnback rewind',
  '/turnbacks',
  'turnback rewind 3 and then go on with the tests',
])('%j is said to the model', (prompt) => {
  expect(findChatCommand(prompt)).toBeNull()
})

test.each([
  '/rewind the last change, it is wrong',
  '/turnback 3\nand then go on',
  '/turnback -C / --all-sessions',
  '/turnback --json',
  '/turnback "not closed',
  `/turnback ${'3'.repeat(5000)}`,
  `turnback rewind it; id\n\n${ELSE_MARK}it is the file’s`,
])('%j is meant for nobody else, and does nothing', (prompt) => {
  expect(findChatCommand(prompt)).toBe('unclear')
})

test.each(['3; rm -rf ~', '3 && id', '$(id)', '`id`', "3 '; id; '"])('%j runs nothing', (text) => {
  expect(findChatCommand(`/turnback ${text}`)).toBe('unclear')
})

test('the command of this chat is the session’s', () => {
  expect(findChatCommand('/turnback --exact')).toMatchObject({ isOfSession: true })
  expect(findChatCommand('/turnback 3')).toMatchObject({ isOfSession: false })
})

test('what our files make of a command is found, and each file says whose it is', () => {
  for (const agent of ['opencode', 'gemini-cli'] as const)
    for (const { text } of listChatFiles(agent)) {
      const body = text.replace(/^---.*?---\n|^.*?prompt = """\n/s, '').replace(/"""\s*$/, '')
      const typed = body.replace(/\$ARGUMENTS|\{\{args\}\}/, '3 --only')
      expect(wordsOf(typed)).toBe('restore|3|--only')
      expect(wordsOf(body.replace(/\$ARGUMENTS|\{\{args\}\}/, ''))).toBe('undo')
      expect(text.slice(0, 400)).toContain(`\`turnback uninstall ${agent}\``)
    }
  expect(listChatFiles('codex')).toEqual([])
})
