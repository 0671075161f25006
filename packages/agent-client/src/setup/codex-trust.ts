import { z } from 'zod'
import { parseHookLine } from './hook-line.ts'
import { runProgram } from './run-program.ts'
import type { BlockEdit, SetupFacts } from './setup.ts'

/** It has a database to open first. */
const LIMIT_MS = 15_000
const ANSWER = 2

const hookSchema = z.object({
  key: z.string(),
  command: z.string().nullish(),
  enabled: z.boolean().optional(),
  currentHash: z.string(),
  trustStatus: z.string(),
})
const answerSchema = z.object({
  result: z.object({ data: z.array(z.object({ hooks: z.array(hookSchema) })) }),
})

/** One of our hooks as Codex sees it. */
export interface CodexHook {
  /** By which its settings name it. */
  readonly key: string
  readonly hash: string
  readonly isTrusted: boolean
  readonly isEnabled: boolean
}

/**
 * What Codex thinks of our hooks, asked of its own server: no agent is started and nothing leaves the machine.
 * @returns null when it does not say
 */
export async function listCodexHooks(
  codex: string,
  facts: SetupFacts,
  folder: string,
): Promise<CodexHook[] | null> {
  const lines = [
    { id: 1, method: 'initialize', params: { clientInfo: { name: 'turnback', version: '1' } } },
    { method: 'initialized' },
    { id: ANSWER, method: 'hooks/list', params: { cwds: [folder] } },
  ]
  const { out } = await runProgram({
    ...{ program: codex, args: ['app-server'], env: facts.env, folder, limitMs: LIMIT_MS },
    input: lines.map((line) => `${JSON.stringify({ jsonrpc: '2.0', ...line })}\n`).join(''),
    until: (text) => findAnswer(text) !== null,
  })
  const parsed = answerSchema.safeParse(findAnswer(out))
  if (!parsed.success) return null
  const hooks = parsed.data.result.data.flatMap((each) => each.hooks)
  return hooks
    .filter(({ command }) => parseHookLine(command, 'codex') !== null)
    .map(({ key, currentHash, trustStatus, enabled }) => ({
      ...{ key, hash: currentHash, isEnabled: enabled !== false },
      isTrusted: trustStatus === 'trusted' || trustStatus === 'managed',
    }))
}

function findAnswer(out: string): unknown {
  for (const line of out.split('\n')) {
    const message = parseLine(line)
    if (typeof message === 'object' && message !== null && Reflect.get(message, 'id') === ANSWER)
      return message
  }
  return null
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    // Not whole yet, or talk.
    return null
  }
}

/** What `/hooks` in Codex writes when a person trusts them. */
export function trustBlock(hooks: readonly CodexHook[]): BlockEdit {
  const tables = hooks.map(
    ({ key, hash }) => `[hooks.state.${JSON.stringify(key)}]\ntrusted_hash = ${JSON.stringify(hash)}`,
  )
  const [first] = hooks
  return {
    kind: 'block',
    name: 'trust',
    place: 'end',
    text: tables.join('\n'),
    unless: ['hooks', 'state', first?.key ?? ''],
  }
}
