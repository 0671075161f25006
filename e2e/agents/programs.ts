/*
 * The agents that the tests drive: exact versions, and the hash of what the registry has to give for them. They weigh 1.6 GB
 * together, so they are fetched when a test wants them (fetch-program.ts) and are no dependency of the workspace.
 */

export interface Program {
  readonly package: string
  readonly version: string
  /** Of the package's own archive, as npm writes it. */
  readonly integrity: string
  /** The command, in the package's `bin`. */
  readonly command: string
  /** What the program would fetch by itself when it starts, of the same version. */
  readonly later?: string
}

export const programs = {
  'claude-code': {
    package: '@anthropic-ai/claude-code',
    version: '2.1.332',
    integrity:
      'sha512-tvSh6bLvEbd97APD31AnojOrRC3AmcRj5R8sF8QIQitu3x2ucOb1kKmTkGDw41kjva+CGJfpkt+wYouk6yv56Q==',
    command: 'claude',
  },
  codex: {
    package: '@openai/codex',
    version: '0.171.0',
    integrity:
      'sha512-1IOFzL2Xg86tLdw6kDo3GoKbkQENgQi7TI6rlEvN132R7ngSw7SNOIQoTcnKzSZZ8kf9N9GynCweSoaFbqk2Eg==',
    command: 'codex',
  },
  opencode: {
    package: 'opencode-ai',
    version: '1.18.33',
    integrity:
      'sha512-58P1ffLRXiAY4QeoABqUjqf6DEzm1ihpovvn9Ad+oOLbLiwK/rf88wruT9IATJ7AtNjmi8iA7pC8tN4o5y799Q==',
    command: 'opencode',
    later: '@opencode-ai/plugin',
  },
  'gemini-cli': {
    package: '@google/gemini-cli',
    version: '0.61.0',
    integrity:
      'sha512-dbQ9A0qBtFJNi6XBkHvfZ6Azpn6PNgH/P8h2MZ67RLlX8hSAVjup39CRWqdRxZv7YXIuhrFaytr8y0jKnkoxnQ==',
    command: 'gemini',
  },
  'copilot-cli': {
    package: '@github/copilot',
    version: '1.0.102',
    integrity:
      'sha512-mv6cTWMhMILxg5ZDgqJ6UsnpPuySCPWOPbZVaO8lL0dpmjY3VD9ZhJr6DFcG7fhUXZv6OmvLdcRCa5MJ6hBI+Q==',
    command: 'copilot',
  },
} as const satisfies Record<string, Program>

export type AgentName = keyof typeof programs

export function isAgentName(name: string): name is AgentName {
  return Object.hasOwn(programs, name)
}
