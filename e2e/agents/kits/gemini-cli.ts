import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { geminiGenerate } from '#agents/models/gemini-generate.ts'
import { call } from '#agents/models/model-server.ts'
import type { Kit } from './kit.ts'

export const geminiCli: Kit = {
  agent: 'gemini-cli',
  protocol: geminiGenerate,
  restartsItself: true,
  listens: true,
  prepare: ({ home }) => {
    const folder = join(home, '.gemini')
    mkdirSync(folder)
    const settings = {
      security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
      privacy: { usageStatisticsEnabled: false },
    }
    writeFileSync(join(folder, 'settings.json'), JSON.stringify(settings, null, 2))
  },
  start: (prompt, { modelUrl, goesOn }) => ({
    args: [...['-m', 'gemini-2.5-flash', '--yolo', '-p', prompt], ...(goesOn ? ['--resume', 'latest'] : [])],
    env: { GEMINI_API_KEY: 'none', GOOGLE_GEMINI_BASE_URL: modelUrl },
  }),
  create: (file, text) => [call('write_file', { file_path: file, content: text })],
  edit: (file, before, after) => [
    call('replace', {
      file_path: file,
      old_string: before,
      new_string: after,
      instruction: 'As the test says',
    }),
  ],
  shell: (command) => [call('run_shell_command', { command, description: 'As the test says' })],
  ends: { SIGINT: 'lost', SIGTERM: 'lost', SIGKILL: 'lost', refusal: 'lost' },
}
