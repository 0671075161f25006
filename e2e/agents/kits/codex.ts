import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { call } from '#agents/models/model-server.ts'
import { openaiResponses } from '#agents/models/openai-responses.ts'
import type { Kit } from './kit.ts'

export const codex: Kit = {
  agent: 'codex',
  protocol: openaiResponses,
  installOptions: ['--trust'],
  trustHooks: ['--dangerously-bypass-hook-trust'],
  listens: true,
  prepare: ({ home, tree }) => {
    const folder = join(home, '.codex')
    mkdirSync(folder)
    const settings = [
      '# as a person wrote it',
      'model = "gpt-5.5"',
      'approval_policy = "never"',
      'sandbox_mode = "danger-full-access"',
      '',
      `[projects.${JSON.stringify(tree)}]`,
      'trust_level = "trusted"',
    ]
    writeFileSync(join(folder, 'config.toml'), `${settings.join('\n')}\n`)
  },
  start: (prompt, { modelUrl, goesOn }) => {
    const provider = `{ name = "standin", base_url = "${modelUrl}/v1", wire_api = "responses", env_key = "STANDIN_KEY" }`
    return {
      args: [
        ...['exec', '-c', 'model_provider=standin', '-c', `model_providers.standin=${provider}`],
        ...(goesOn ? ['resume', '--last'] : []),
        prompt,
      ],
      env: { STANDIN_KEY: 'none' },
    }
  },
  create: (file, text) =>
    patch(
      `*** Add File: ${file}`,
      ...text
        .trimEnd()
        .split('\n')
        .map((line) => `+${line}`),
    ),
  edit: (file, before, after) => patch(`*** Update File: ${file}`, '@@', `-${before}`, `+${after}`),
  shell: (command) => [call('exec_command', { cmd: command, yield_time_ms: 30_000 })],
  ends: { SIGINT: 'interrupted', SIGTERM: 'lost', SIGKILL: 'lost', refusal: 'lost' },
}

function patch(...lines: string[]) {
  return [call('apply_patch', ['*** Begin Patch', ...lines, '*** End Patch'].join('\n'))]
}
