import { isId } from '@turnback/core'
import type { AgentNews } from '#adapters/adapter.ts'
import type { TurnRow } from '#ports.ts'
import type { Context } from './context.ts'

/**
 * The turn of the task that the agent works for, when `turnback run` started it: its hooks tell of that turn, and open none
 * beside it, of which nobody could tell the changes apart. Null for an agent that works for nobody.
 */
export function findTaskTurn({ deps, env }: Context): TurnRow | null {
  const { TURNBACK_TURN: named = '', TURNBACK_TASK: task = '' } = env
  if (!isId(named, 't') || task === '') return null
  const turn = deps.log.findTurn(named)
  return turn?.kind === 'task' && turn.task === task ? turn : null
}

/**
 * What an agent's news is for the task's turn: but for its end, which is not the task's. Null for that, and
 * when the turn is over: what comes late is nobody's.
 */
export function asNewsOfTask(news: AgentNews, turn: TurnRow): AgentNews | null {
  if (!turn.isOpen || turn.session === null) return null
  if (news.type === 'turn.end' || news.type === 'session.end') return null
  const { session, key } = turn
  // What it was asked, and what it writes down of itself, is not what the task was asked.
  return { ...news, session, key, parentSession: null, prompt: null, transcript: null, lastMessage: null }
}
