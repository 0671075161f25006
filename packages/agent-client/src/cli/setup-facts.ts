import { homedir } from 'node:os'
import { DomainError } from '@turnback/core'
import type { AgentName } from '#adapters/adapter.ts'
import { findHome } from '#config.ts'
import { findProgram } from '#resident/service.ts'
import { isThere } from '#setup/settings-file.ts'
import type { Level, SetupFacts } from '#setup/setup.ts'
import { findPlace } from '#worktree/find-root.ts'
import type { Context } from './context.ts'

/** What agents' settings depend on here. @throws ROOT_REFUSED where no project can be */
export function findSetupFacts(context: Context, level: Level, mcp: boolean): SetupFacts {
  const { env } = context
  return {
    ...{ env, level, mcp },
    user: env.HOME || homedir(),
    project: level === 'project' ? getProject(context) : findProject(context),
    program: findProgram(),
    exists: isThere,
  }
}

/** When the agent last told of a turn. Null too when the store cannot be opened: settings can be put in order all the same. */
export function findLastFired(context: Context, agent: AgentName): string | null {
  try {
    return context.deps.log.findFact(`fired:${agent}`)
  } catch (error) {
    if (error instanceof DomainError) return null
    throw error
  }
}

function getProject(context: Context): string {
  const home = findHome(context.env)
  return context.findWorkspace()?.root ?? findPlace(context.folder, home, context.env, false).root
}

function findProject(context: Context): string | null {
  try {
    return getProject(context)
  } catch (error) {
    if (error instanceof DomainError) return null
    throw error
  }
}
