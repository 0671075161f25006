import { anthropicMessages } from '#agents/models/anthropic-messages.ts'
import { call } from '#agents/models/model-server.ts'
import type { Kit } from './kit.ts'

export const claudeCode: Kit = {
  agent: 'claude-code',
  protocol: anthropicMessages,
  listens: true,
  prepare: () => undefined,
  start: (prompt, { modelUrl, goesOn }) => ({
    args: [
      ...['-p', prompt, '--permission-mode', 'acceptEdits', '--allowedTools', 'Bash Read Write Edit'],
      ...(goesOn ? ['--continue'] : []),
    ],
    env: {
      ANTHROPIC_BASE_URL: modelUrl,
      ANTHROPIC_API_KEY: 'none',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      // It lets root use its tools only where it is told that nothing can be harmed.
      IS_SANDBOX: '1',
    },
  }),
  create: (file, text) => [call('Write', { file_path: file, content: text })],
  // It edits no file that it has not read.
  edit: (file, before, after) => [
    call('Read', { file_path: file }),
    call('Edit', { file_path: file, old_string: before, new_string: after }),
  ],
  shell: (command) => [call('Bash', { command, description: 'As the test says' })],
  // Of Ctrl-C it tells its transcript alone.
  ends: { SIGINT: 'interrupted', SIGTERM: 'lost', SIGKILL: 'lost', refusal: 'failed' },
}
