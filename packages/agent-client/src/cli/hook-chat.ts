import type { Adapter, AgentNews } from '#adapters/adapter.ts'
import { asFields, textIn } from '#adapters/fields.ts'
import { findChatCommand } from '#chat/chat-command.ts'
import { findWorkspaceAround } from '#worktree/find-root.ts'
import type { Context } from './context.ts'

/** Where Claude Code says that a prompt comes from. What a model has arranged for itself is none of the person's. */
const BY_PERSON: ReadonlySet<string | null> = new Set([null, 'user', 'sdk'])

/** A hook's agent gives up after fifteen seconds; `bin/turnback` gives up on the resident after ten. */
const ALONE_SECONDS = 12
const SERVED_SECONDS = 8

/**
 * Carries out a prompt that is a command to us, in the model's place: no turn begins. Only the person's own words count.
 * @returns what the hook prints, or null for all other news
 */
export async function answerChatCommand(
  context: Context,
  adapter: Adapter,
  news: readonly AgentNews[],
  payload: unknown,
): Promise<string | null> {
  const asked = news.find(({ type, parentSession }) => type === 'turn.start' && parentSession === null)
  if (adapter.refuse === undefined || asked === undefined || asked.prompt === null) return null
  const command = findChatCommand(asked.prompt)
  if (command === null || !BY_PERSON.has(textIn(asFields(payload), 'source'))) return null
  // Other news needs none of this.
  const [{ CHAT_USAGE, runChatCommand }, { findProgram }] = await Promise.all([
    import('#chat/run-chat-command.ts'),
    import('#resident/service.ts'),
  ])
  if (command === 'unclear') return adapter.refuse(CHAT_USAGE)
  const report = await runChatCommand(command, {
    program: findProgram(),
    folder: folderOf(context, asked),
    session: asked.session,
    callerPid: context.callerPid,
    env: context.env,
    waitMs: (context.caller.isWaiting === undefined ? ALONE_SECONDS : SERVED_SECONDS) * 1000,
  })
  return adapter.refuse(report)
}

/** Where the agent is at work; one that has gone into no workspace is where its session was begun. */
function folderOf(context: Context, { cwd, project }: AgentNews): string {
  const folder = cwd ?? project ?? context.folder
  const isInside = findWorkspaceAround(folder, context.deps.log.listWorkspaces()) !== null
  return isInside ? folder : (project ?? folder)
}
