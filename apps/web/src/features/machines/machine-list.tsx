'use client'

import { useQuery } from '@tanstack/react-query'
import type { ProjectId, RemotePolicy } from '@turnback/core'
import type { Machine } from '@turnback/core/api'
import { Laptop } from 'lucide-react'
import Link from 'next/link'
import type { ReactNode } from 'react'
import { describeError } from '#lib/errors.ts'
import { formatAgo, formatMoment } from '#lib/format.ts'
import { paths } from '#lib/paths.ts'
import { Badge } from '#ui/badge.tsx'
import { EmptyState } from '#ui/empty-state.tsx'
import { ErrorState } from '#ui/error-state.tsx'
import { Note } from '#ui/note.tsx'
import { OnlineDot } from '#ui/online-dot.tsx'
import { PathText } from '#ui/path-text.tsx'
import { ListSkeleton } from '#ui/skeleton.tsx'
import { makeVisible } from '#ui/visible.ts'
import { ConnectMachineButton } from './connect-machine.tsx'
import { machinesQuery } from './machine-queries.ts'
import { RemoveMachine } from './remove-machine.tsx'

const policyWords: Readonly<Record<RemotePolicy, string>> = {
  off: 'off: cannot be rewound from here',
  ask: 'asks at the machine each time',
  owner: 'its owner may, from here',
  'owner-passkey': 'its owner may, with a passkey',
}

export function MachineList({ project }: { project: ProjectId | null }) {
  const machines = useQuery(machinesQuery())
  if (machines.isError && machines.data === undefined) {
    return <ErrorState {...describeError(machines.error)} onRetry={() => void machines.refetch()} />
  }
  if (machines.data === undefined) return <ListSkeleton label="Loading machines" rows={3} />
  const items = machines.data.items
  return (
    <div className="mx-auto w-full max-w-3xl px-3 py-4 sm:px-4 sm:py-6">
      <div className="mb-4 flex flex-wrap items-center justify-between gap-3 px-1">
        <h1 className="text-xl font-semibold tracking-tight">Machines</h1>
        <ConnectMachineButton project={project} />
      </div>
      {machines.isError && (
        <div className="mb-3">
          <Note tone="warn" title={describeError(machines.error).message}>
            What you see may be old.
          </Note>
        </div>
      )}
      {items.length === 0 ? (
        <EmptyState icon={<Laptop />} title="No machine is connected">
          Connect the machine your agent runs on; its turns appear here.
        </EmptyState>
      ) : (
        <ul className="grid grid-cols-[minmax(0,1fr)] gap-3">
          {items.map((machine) => (
            <MachineCard key={machine.id} machine={machine} />
          ))}
        </ul>
      )}
    </div>
  )
}

function MachineCard({ machine }: { machine: Machine }) {
  return (
    <li className="rounded-xl border border-line bg-surface p-4" aria-label={machine.name}>
      <div className="flex items-start gap-3">
        <span className="grid size-9 shrink-0 place-items-center rounded-lg bg-hover text-muted">
          <Laptop className="size-5" aria-hidden="true" />
        </span>
        <div className="min-w-0 flex-1">
          <h2 className="flex flex-wrap items-center gap-2 font-semibold [overflow-wrap:anywhere]">
            {makeVisible(machine.name)}
            {machine.isMine && <Badge>yours</Badge>}
          </h2>
          <p className="mt-0.5 flex items-center gap-1.5 text-[0.8125rem] text-muted">
            <OnlineDot isOnline={machine.online} />
            <SeenText machine={machine} />
          </p>
        </div>
        {machine.isMine && <RemoveMachine machine={machine} />}
      </div>
      <dl className="mt-4 grid grid-cols-2 gap-x-4 gap-y-3 text-[0.8125rem]">
        <Fact name="Remote rewind">
          {machine.policy === null ? 'not known yet' : policyWords[machine.policy.remote]}
        </Fact>
        <Fact name="Owner">{makeVisible(machine.owner.name)}</Fact>
        <Fact name="Key fingerprint">
          <code className="font-mono text-xs">{machine.fingerprint}</code>
        </Fact>
        <Fact name="Client">
          {machine.version ?? 'not known'}, connected {formatMoment(machine.enrolledAt)}
        </Fact>
      </dl>
      <Workspaces machine={machine} />
    </li>
  )
}

function SeenText({ machine }: { machine: Machine }) {
  if (machine.online) return 'Online'
  if (machine.lastSeenAt === null) return 'Never seen online'
  return (
    <span>
      Offline, last seen{' '}
      <time dateTime={machine.lastSeenAt} title={formatMoment(machine.lastSeenAt)}>
        {formatAgo(machine.lastSeenAt, new Date())}
      </time>
    </span>
  )
}

function Workspaces({ machine }: { machine: Machine }) {
  if (machine.workspaces.length === 0)
    return <p className="mt-3 text-xs text-faint">No workspace has sent a turn yet.</p>
  return (
    <ul
      aria-label={`Workspaces of ${machine.name}`}
      className="mt-3 divide-y divide-line rounded-lg border border-line"
    >
      {machine.workspaces.map((workspace) => (
        <li key={workspace.id}>
          <Link
            href={`${paths.turns(workspace.project)}?machine=${machine.id}`}
            className="flex min-h-9 flex-col justify-center gap-x-3 px-3 py-1.5 -outline-offset-2 hover:bg-hover sm:flex-row sm:items-center touch:min-h-11"
          >
            <span className="shrink-0 font-medium">{makeVisible(workspace.name)}</span>
            <PathText path={workspace.root} className="text-xs text-faint sm:flex-1" />
          </Link>
        </li>
      ))}
    </ul>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-xs text-faint">{name}</dt>
      <dd className="mt-0.5 [overflow-wrap:anywhere]">{children}</dd>
    </div>
  )
}
