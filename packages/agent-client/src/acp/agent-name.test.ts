import { expect, test } from 'vitest'
import { agentNameOf } from './agent-name.ts'

test.each([
  ['OpenCode', 'opencode'],
  ['@zed-industries/claude-agent-acp', 'claude-code'],
  ['/usr/bin/gemini', 'gemini-cli'],
  ['Codex', 'codex'],
  ['Goose', 'Goose'],
  ['/home/claude/bin/goose', '/home/claude/bin/goose'],
])('%s is %s', (said, name) => {
  expect(agentNameOf(said)).toBe(name)
})
