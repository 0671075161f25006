import { copyFileSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { laterFolderOf } from '#agents/fetch-program.ts'
import { call } from '#agents/models/model-server.ts'
import { openaiChat } from '#agents/models/openai-chat.ts'
import type { Kit } from './kit.ts'

export const opencode: Kit = {
  agent: 'opencode',
  protocol: openaiChat,
  listens: true,
  prepare: ({ home }) => {
    const later = laterFolderOf('opencode')
    const folder = join(home, '.config/opencode')
    mkdirSync(folder, { recursive: true })
    for (const file of ['package.json', 'package-lock.json'])
      copyFileSync(join(later, file), join(folder, file))
    symlinkSync(join(later, 'node_modules'), join(folder, 'node_modules'))
  },
  start: (prompt, { modelUrl, goesOn }) => {
    const provider = {
      npm: '@ai-sdk/openai-compatible',
      name: 'standin',
      options: { baseURL: `${modelUrl}/v1`, apiKey: 'none' },
      models: { standin: { name: 'standin', tool_call: true } },
    }
    const config = {
      model: 'standin/standin',
      autoupdate: false,
      share: 'disabled',
      provider: { standin: provider },
    }
    return {
      // It puts quotes around an argument that has spaces in it.
      args: ['run', ...(goesOn ? ['--continue'] : []), ...prompt.split(' ')],
      env: {
        OPENCODE_CONFIG_CONTENT: JSON.stringify(config),
        OPENCODE_DISABLE_MODELS_FETCH: '1',
        OPENCODE_DISABLE_AUTOUPDATE: '1',
      },
    }
  },
  create: (file, text) => [call('write', { filePath: file, content: text })],
  // It edits no file that it has not read.
  edit: (file, before, after) => [
    call('read', { filePath: file }),
    call('edit', { filePath: file, oldString: before, newString: after }),
  ],
  shell: (command) => [call('bash', { command, description: 'As the test says' })],
  ends: { SIGINT: 'lost', SIGTERM: 'lost', SIGKILL: 'lost', refusal: 'failed' },
}
