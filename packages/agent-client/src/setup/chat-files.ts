import { join } from 'node:path'
import type { AgentName } from '#adapters/adapter.ts'
import { listChatFiles } from '#chat/chat-files.ts'
import type { FileSetup } from './setup.ts'

/** The files of our command in the agent's chat. @param at the agent's folder, of the user or of the project */
export function chatFiles(agent: AgentName, at: string): FileSetup[] {
  return listChatFiles(agent).map(({ path, text }) => ({
    file: join(at, path),
    edits: [{ kind: 'whole', text }],
  }))
}
