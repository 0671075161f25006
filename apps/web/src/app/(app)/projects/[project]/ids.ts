import {
  type ProjectId,
  projectIdSchema,
  type RestoreId,
  restoreIdSchema,
  type TurnId,
  turnIdSchema,
} from '@turnback/core'
import { notFound } from 'next/navigation'

/** The ids of an address. One that cannot be an id is shown as not found without asking the service. */
export function getProjectId({ project }: { project: string }): ProjectId {
  const id = projectIdSchema.safeParse(project)
  return id.success ? id.data : notFound()
}

export function getTurnId({ turn }: { turn: string }): TurnId {
  const id = turnIdSchema.safeParse(turn)
  return id.success ? id.data : notFound()
}

export function getRestoreId({ restore }: { restore: string }): RestoreId {
  const id = restoreIdSchema.safeParse(restore)
  return id.success ? id.data : notFound()
}
