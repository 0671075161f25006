import { call } from '#agents/models/model-server.ts'
import { openaiChat } from '#agents/models/openai-chat.ts'
import type { Kit } from './kit.ts'

export const copilotCli: Kit = {
  agent: 'copilot-cli',
  protocol: openaiChat,
  restartsItself: true,
  listens: false,
  prepare: () => undefined,
  start: (prompt, { modelUrl, goesOn }) => ({
    args: ['-p', prompt, '--allow-all-tools', '--allow-all-paths', ...(goesOn ? ['--continue'] : [])],
    env: {
      COPILOT_OFFLINE: 'true',
      COPILOT_PROVIDER_BASE_URL: `${modelUrl}/v1`,
      COPILOT_MODEL: 'standin',
      COPILOT_AUTO_UPDATE: 'false',
    },
  }),
  create: (file, text) => [call('create', { path: file, file_text: text })],
  edit: (file, before, after) => [call('edit', { path: file, old_str: before, new_str: after })],
  shell: (command) => [call('bash', { command, description: 'As the test says' })],
  // It notes in its transcript that the turn was broken off.
  ends: { SIGINT: 'interrupted', SIGTERM: 'interrupted', SIGKILL: 'lost', refusal: 'failed' },
}
