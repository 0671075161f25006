import { limits } from '@turnback/core'
import { z } from 'zod'
import type { Wanted } from './outline.ts'

/*
 * What of the Agent Client Protocol's messages, versions 1 and 2, says what happens to files. Everything else passes
 * unread. A member that is not as the protocol has it counts as missing: the one that it is meant for judges it.
 */

export const TEXT_BYTES = limits.promptCharacters

/** Members to keep of a message; the schema below has the same. */
export const WANTED: Wanted = {
  id: 'value',
  method: 'value',
  params: {
    sessionId: 'value',
    requestId: 'value',
    cwd: 'value',
    prompt: [{ type: 'value', text: 'value', uri: 'value' }],
    path: 'value',
    command: 'value',
    args: ['value'],
    terminalId: 'value',
    update: {
      sessionUpdate: 'value',
      toolCallId: 'value',
      kind: 'value',
      status: 'value',
      title: 'value',
      name: 'value',
      locations: [{ path: 'value' }],
      content: [{ type: 'value', path: 'value', changes: [{ path: 'value', oldPath: 'value' }] }],
      rawInput: { command: 'value' },
      terminalId: 'value',
      command: 'value',
      exitStatus: {},
      state: 'value',
      stopReason: 'value',
    },
  },
  result: {
    protocolVersion: 'value',
    sessionId: 'value',
    terminalId: 'value',
    stopReason: 'value',
    agentInfo: { name: 'value', version: 'value' },
  },
  error: { code: 'value' },
}

const text = z.string().optional().catch(undefined)
/** Absent is not the same as empty: what is not told of again stays. */
const list = <T extends z.ZodType>(item: T) => z.array(item).optional().catch(undefined)

const updateSchema = z.object({
  sessionUpdate: text,
  toolCallId: text,
  kind: text,
  status: text,
  title: text,
  name: text,
  locations: list(z.object({ path: text })),
  content: list(z.object({ type: text, path: text, changes: list(z.object({ path: text, oldPath: text })) })),
  rawInput: z.object({ command: text }).optional().catch(undefined),
  terminalId: text,
  command: text,
  exitStatus: z.object({}).optional().catch(undefined),
  state: text,
  stopReason: text,
})

const messageSchema = z.object({
  id: z.union([z.string(), z.number()]).nullable().optional().catch(undefined),
  method: text,
  params: z
    .object({
      sessionId: text,
      requestId: z.union([z.string(), z.number()]).optional().catch(undefined),
      cwd: text,
      prompt: list(z.object({ type: text, text, uri: text })),
      path: text,
      command: text,
      args: list(z.string()),
      terminalId: text,
      update: updateSchema.optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
  result: z
    .object({
      protocolVersion: z.number().optional().catch(undefined),
      sessionId: text,
      terminalId: text,
      stopReason: text,
      agentInfo: z.object({ name: text, version: text }).optional().catch(undefined),
    })
    .optional()
    .catch(undefined),
  error: z.object({}).optional().catch(undefined),
})

export type Message = z.output<typeof messageSchema>
export type Update = z.output<typeof updateSchema>

/** @param outline of one message. @returns null for what is no message of the protocol */
export function readMessage(outline: unknown): Message | null {
  const read = messageSchema.safeParse(outline)
  return read.success ? read.data : null
}

/** What a person asked, as far as it is text. */
export function promptOf(blocks: NonNullable<NonNullable<Message['params']>['prompt']> = []): string {
  return blocks
    .flatMap(({ type, text: said, uri }) => {
      if (type === 'text' && said !== undefined) return [said]
      return type === 'resource_link' && uri !== undefined ? [`@${uri}`] : []
    })
    .join('\n')
}
