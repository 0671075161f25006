import { firstCapture, registerWorkspace } from '#capture/register.ts'
import type { Observation } from '#capture-ports.ts'
import type { Workspace } from '#ports.ts'
import { findPlace, findWorkspaceAround } from '#worktree/find-root.ts'
import type { Context } from './context.ts'
import { formerInWords, listFormerHistories } from './former-places.ts'

export interface Ensured {
  readonly workspace: Workspace
  /** The first capture, when this made it. */
  readonly first: Observation | null
}

/**
 * The workspace of the command's folder; registered and captured for the first time when it is none yet.
 * @param options.folder is taken itself when it is named, whatever is around it
 * @param options.isLookLater leaves the first capture to the look that the caller makes at once
 */
export async function ensureWorkspace(
  context: Context,
  options: {
    readonly folder?: string
    /** In place of the command's own: what is around this one is taken. */
    readonly within?: string
    readonly project?: string | null
    readonly countExcluded?: boolean
    readonly isLookLater?: boolean
  } = {},
): Promise<Ensured> {
  const { deps } = context
  const start = options.folder ?? options.within ?? context.folder
  const project = options.project ?? null
  const exactly = options.folder !== undefined
  const around = exactly ? null : findWorkspaceAround(start, deps.log.listWorkspaces())
  const place = around ?? findPlace(start, deps.home, context.env, exactly)
  if (around === null) tellOfFormer(context, place.root)
  const workspace =
    around !== null && project === null ? around : registerWorkspace(deps, toPlace(place), project)
  if (options.isLookLater === true) return { workspace, first: null }
  const first = await firstCapture(deps, workspace, options.countExcluded ?? false)
  return { workspace, first }
}

/** Once, when a new history begins where somebody may look for another one. */
function tellOfFormer(context: Context, root: string): void {
  const { deps } = context
  if (findWorkspaceAround(root, deps.log.listWorkspaces())?.root === root) return
  for (const former of listFormerHistories(deps, root)) context.talk(`turnback: ${formerInWords(former)}`)
}

function toPlace({
  root,
  device,
  inode,
  name,
}: {
  root: string
  device: string
  inode: string
  name: string
}) {
  return { root, device, inode, name }
}
