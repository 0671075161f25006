import type { AgentName } from '#adapters/adapter.ts'
import { ELSE_MARK } from './chat-command.ts'

/** A file of ours, in the agent's own folder of the user or of a project. */
export interface ChatFile {
  /** Relative to that folder. */
  readonly path: string
  readonly text: string
}

const DESCRIPTION = 'Take the last turn’s changes back; with a number, go back to before that turn (Turnback)'
/** What a model reads when our hook did not answer in its place. */
const ELSE = `${ELSE_MARK}Turnback’s hook did not answer, and nothing was taken back. Say so to the person: \`turnback doctor\` tells why, and \`turnback undo\` in a terminal takes the last turn back. Run neither yourself, and do nothing else.`

/**
 * Files by which an agent offers our command in its chat. They run nothing: the hook answers the prompt in the model's
 * place, so that what stands behind the command reaches no shell and no model. Claude Code and Gemini CLI have a
 * `/rewind` of their own, which is left alone.
 */
export function listChatFiles(agent: AgentName): readonly ChatFile[] {
  switch (agent) {
    case 'claude-code':
      return [
        {
          path: 'commands/turnback.md',
          text: `${header(agent, ['argument-hint: "[turn] [--only] [--dry-run]"', 'disable-model-invocation: true'])}${ELSE}\n`,
        },
      ]
    case 'opencode':
      return ['rewind', 'turnback'].map((name) => ({
        path: `command/${name}.md`,
        text: `${header(agent, [])}turnback rewind $ARGUMENTS\n\n${ELSE}\n`,
      }))
    case 'gemini-cli':
      return [
        {
          path: 'commands/turnback.toml',
          text: `# ${byUs(agent)}\ndescription = "${DESCRIPTION}"\nprompt = """\nturnback rewind {{args}}\n\n${ELSE}\n"""\n`,
        },
      ]
    case 'codex':
    case 'copilot-cli':
    case 'cursor':
      // They take no commands from files that reach our hook.
      return []
  }
}

function header(agent: AgentName, more: readonly string[]): string {
  return ['---', `# ${byUs(agent)}`, `description: ${DESCRIPTION}`, ...more, '---', ''].join('\n')
}

function byUs(agent: AgentName): string {
  return `Written by Turnback. \`turnback uninstall ${agent}\` removes it.`
}
