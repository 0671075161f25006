import { DomainError, makeId } from '@turnback/core'
import type { CaptureDeps, Observation } from '#capture-ports.ts'
import type { Lease, Leases, Workspace } from '#ports.ts'
import { lookAtTree } from './look.ts'

const ID_KEY_BYTES = 32

export interface Place {
  readonly root: string
  readonly device: string
  readonly inode: string
  readonly name: string
}

/** Registers a folder as a workspace, or gives the one that it is already. */
export function registerWorkspace(deps: CaptureDeps, place: Place, project: string | null): Workspace {
  return deps.log.transact(() => {
    const known = deps.log
      .listWorkspaces()
      .find(
        ({ root, device, inode }) => root === place.root && device === place.device && inode === place.inode,
      )
    if (known !== undefined) {
      if (project === null || project === known.project) return known
      deps.captureLog.setProject(known.id, project)
      return { ...known, project }
    }
    const now = deps.clock.nowMs()
    const workspace: Workspace = {
      ...place,
      id: makeId('w', now, deps.random(10)),
      project,
      createdAt: new Date(now).toISOString(),
    }
    deps.captureLog.insertWorkspace(workspace, deps.random(ID_KEY_BYTES))
    return workspace
  })
}

/** The first capture: every file's bytes, so that whatever happens next can be taken back. Null when it was made before. */
export async function firstCapture(
  deps: CaptureDeps & { readonly leases: Leases },
  workspace: Workspace,
  countExcluded: boolean,
): Promise<Observation | null> {
  if (deps.captureLog.peekScan(workspace.id) > 1) return null
  return deps.leases.run(workspace, 'capture', async (lease: Lease) => {
    if (deps.captureLog.peekScan(workspace.id) > 1) return null
    const looked = await lookAtTree(deps, lease, workspace, {
      countExcluded,
      deadlineMs: null,
      late: new Set(),
    })
    if (looked.observation.files === 0 && looked.observation.incomplete !== null) {
      throw new DomainError('ROOT_REFUSED', { root: workspace.root, why: looked.observation.incomplete })
    }
    deps.log.transact(() => looked.record())
    return looked.observation
  })
}
