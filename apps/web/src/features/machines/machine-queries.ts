import { mutationOptions, queryOptions } from '@tanstack/react-query'
import type { MachineId, ProjectId } from '@turnback/core'
import { routes } from '@turnback/core/api'
import { callApi } from '#lib/api.ts'

export const machinesQuery = () =>
  queryOptions({
    queryKey: [routes.listMachines.path],
    queryFn: ({ signal }) => callApi(routes.listMachines, { query: { limit: 200 } }, { signal }),
    // Whether a machine is there is told by live news; this is for when they do not come.
    refetchInterval: 30_000,
  })

export const enrollmentMutation = () =>
  mutationOptions({
    mutationFn: (project: ProjectId | null) =>
      callApi(routes.createEnrollment, { body: project === null ? {} : { project } }),
  })

export const removeMachineMutation = () =>
  mutationOptions({
    mutationFn: (machine: MachineId) => callApi(routes.removeMachine, { params: { machine } }),
  })
