import fc from 'fast-check'
import { expect, test } from 'vitest'
import { setup as claude } from '#adapters/claude-code/setup.ts'
import { setup as codex } from '#adapters/codex/setup.ts'
import { setup as cursor } from '#adapters/cursor/setup.ts'
import { setup as gemini } from '#adapters/gemini-cli/setup.ts'
import { applyEdits, holdsOurs, isApplied, removeEdits } from './edits.ts'
import { hookLine, parseHookLine } from './hook-line.ts'
import type { AgentSetup, Edit, SetupFacts } from './setup.ts'

const FACTS: SetupFacts = {
  ...{ env: {}, user: '/home/u', project: null, level: 'user', program: '/x/bin/turnback', mcp: true },
  exists: () => false,
}

function editsOf(setup: AgentSetup, name: RegExp): readonly Edit[] {
  return setup.files(FACTS).find(({ file }) => name.test(file))?.edits ?? []
}

const entry = fc.record({
  type: fc.constant('command'),
  command: fc.constantFrom('check', '/y/turnback-not hook x', ''),
})
const group = fc.record(
  { matcher: fc.constantFrom('*', 'Bash'), hooks: fc.array(entry, { maxLength: 2 }) },
  { requiredKeys: ['hooks'] },
)
const event = fc.constantFrom('Stop', 'PreToolUse', 'BeforeAgent', 'stop', 'Other')
const settings = fc.record(
  {
    model: fc.jsonValue({ maxDepth: 2 }),
    hooks: fc.dictionary(event, fc.array(fc.oneof(group, entry), { maxLength: 2 }), { maxKeys: 3 }),
    mcpServers: fc.dictionary(fc.constantFrom('a', 'b'), fc.constant({ command: 'x' }), { maxKeys: 2 }),
    version: fc.constant(1),
  },
  { requiredKeys: [] },
)

/** Others' settings as they may be written: any indentation, line ends, comments and trailing commas. */
const texts = fc
  .record({
    value: settings,
    unit: fc.constantFrom('', '  ', '\t', '    '),
    eol: fc.constantFrom('\n', '\r\n'),
    comment: fc.constantFrom('', ' // note', ' /* note */'),
    mark: fc.constantFrom('', '\ufeff'),
    isTrailing: fc.boolean(),
  })
  .map(({ value, unit, eol, comment, mark, isTrailing }) => {
    const json = JSON.stringify(value, null, unit)
    if (unit === '') return mark + json
    const lines = json.split('\n').map((line, index, all) => {
      const isLast = /^\s*[\]}]/.test(all[index + 1] ?? '') && !/[,[{]$/.test(line)
      return `${line}${isLast && isTrailing ? ',' : ''}${comment}`
    })
    return `${mark}${lines.join(eol)}${eol}`
  })

test.each([
  ['Claude Code', editsOf(claude, /settings\.json$/)],
  ['Gemini CLI, with the MCP server', editsOf(gemini, /settings\.json$/)],
  ['Cursor', editsOf(cursor, /hooks\.json$/).filter(({ kind }) => kind === 'hooks')],
])('%s: whatever others have in the file, ours comes and goes without a trace', (_, edits) => {
  fc.assert(
    fc.property(texts, (text) => {
      const put = applyEdits(text, edits)
      expect(isApplied(put, edits)).toBe(true)
      expect(holdsOurs(put, edits)).toBe(true)
      expect(removeEdits(put, edits, text)).toBe(text)
    }),
    { numRuns: 200 },
  )
})

test.each([
  '',
  'model = "x"\n',
  '# only words\n',
  'a = 1\r\n[t]\r\nb = 2\r\n',
  '[mcp_servers.other]\ncommand = "x"\n',
])('Codex’s TOML: lines of ours come and go without a trace: %j', (text) => {
  const edits = editsOf(codex, /config\.toml$/)
  const put = applyEdits(text, edits)
  expect(isApplied(put, edits)).toBe(true)
  expect(removeEdits(put, edits, text)).toBe(text)
})

test('a line holds any path as it is, and nothing else is taken for it', () => {
  fc.assert(
    fc.property(fc.string(), (folder) => {
      const program = `/${folder}/turnback`
      expect(parseHookLine(hookLine(program, 'cursor', 'stop'), 'cursor')).toEqual({ program, event: 'stop' })
    }),
  )
  const program = '/x/turnback'
  expect(parseHookLine('/x/turnback hook codex', 'codex')).toEqual({ program, event: null })
  expect(parseHookLine('"/x/turnback" hook codex', 'codex')).toEqual({ program, event: null })
  expect(parseHookLine('/x/\\turnback hook codex || true', 'codex')).toEqual({ program, event: null })
  for (const line of [
    ...['/x/turnback hook codex; rm y', 'echo /x/turnback hook codex', '$(x)/turnback hook codex'],
    ...['"$(x)/turnback" hook codex', '"`x`/turnback" hook codex'],
    ...['/x/turnback hook cursor', '/x/returnback hook codex', '/x/turnback log codex', 3, null],
  ])
    expect(parseHookLine(line, 'codex'), String(line)).toBeNull()
})
