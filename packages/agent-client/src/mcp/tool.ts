import {
  type CallToolResult,
  inputRequired,
  inputResponse,
  type McpServer,
} from '@modelcontextprotocol/server'
import { errorCatalogue, isErrorCode } from '@turnback/core'
import { z } from 'zod'

/** Runs one of our commands in a folder. @returns what it prints with `--json`: its result, or `{error}` */
export type RunCommand = (folder: string, argv: readonly string[]) => Promise<unknown>

/** Where a server's tools work. */
export interface Place {
  /** Takes the client's roots, as `file:` addresses; null for a client that has none. @returns where commands run */
  findFolder(roots: readonly string[] | null): string
  readonly run: RunCommand
}

/** One tool: what it asks for, the command that it stands for, and what of that command's result it tells. */
export interface Tool<Input extends z.ZodObject> {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: Input
  readonly isReadOnly: boolean
  argv(input: z.output<Input>): readonly string[]
  tell(result: unknown, input: z.output<Input>): Answer
}

export interface Answer {
  readonly facts: Record<string, unknown>
  /** Instead of the facts as JSON, for who reads text. */
  readonly text?: string
}

/** A command's failure, said to the model. */
const failure = z.object({
  error: z.object({
    code: z.string(),
    message: z.string(),
    details: z.record(z.string(), z.unknown()).optional(),
  }),
})

const ROOTS = 'roots'

export function addTool<Input extends z.ZodObject>(server: McpServer, place: Place, tool: Tool<Input>): void {
  const { name, title, description, isReadOnly } = tool
  const inputSchema: z.ZodObject = tool.input
  const annotations = { readOnlyHint: isReadOnly, destructiveHint: false, openWorldHint: false }
  server.registerTool(name, { title, description, inputSchema, annotations }, async (given, { mcpReq }) => {
    const input = tool.input.parse(given)
    const { inputResponses } = mcpReq
    const told = inputResponse(inputResponses, ROOTS)
    if (told.kind !== 'roots' && inputResponses === undefined && hasRoots(server, mcpReq.envelope))
      return inputRequired({ inputRequests: { [ROOTS]: inputRequired.listRoots() } })
    const roots = told.kind === 'roots' ? told.roots.map(({ uri }) => uri) : null
    const result = await place.run(place.findFolder(roots), tool.argv(input))
    const failed = failure.safeParse(result)
    return failed.success ? failedWith(failed.data.error) : answered(tool.tell(result, input))
  })
}

const withRoots = z.looseObject({ roots: z.unknown().refine((roots) => roots !== undefined) })
const envelopeWithRoots = z.looseObject({ 'io.modelcontextprotocol/clientCapabilities': withRoots })

/** Older clients say what they can once, newer ones with each request. */
function hasRoots(server: McpServer, envelope: unknown): boolean {
  return (
    envelopeWithRoots.safeParse(envelope).success ||
    withRoots.safeParse(server.server.getClientCapabilities()).success
  )
}

function answered({ facts, text }: Answer): CallToolResult {
  return {
    content: [{ type: 'text', text: text ?? JSON.stringify(facts, null, 1) }],
    structuredContent: facts,
  }
}

function failedWith({ code, message, details = {} }: z.output<typeof failure>['error']): CallToolResult {
  const remedy = isErrorCode(code) ? errorCatalogue[code].remedy : null
  const text = [`${message} (${code})`, ...(remedy === null ? [] : [remedy])].join('\n')
  return {
    isError: true,
    content: [{ type: 'text', text }],
    structuredContent: { error: { code, message, remedy, details } },
  }
}
