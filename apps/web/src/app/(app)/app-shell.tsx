'use client'

import { useQuery } from '@tanstack/react-query'
import { type ProjectId, projectIdSchema } from '@turnback/core'
import { History, Laptop, Undo2 } from 'lucide-react'
import Link from 'next/link'
import { useParams, usePathname } from 'next/navigation'
import { type ReactNode, useEffect, useState } from 'react'
import { meQuery } from '#features/accounts/account-queries.ts'
import { UserMenu } from '#features/accounts/user-menu.tsx'
import { projectsQuery } from '#features/projects/project-queries.ts'
import { ProjectSwitcher } from '#features/projects/project-switcher.tsx'
import { isApiError } from '#lib/api.ts'
import { describeError } from '#lib/errors.ts'
import { useLiveProjects } from '#lib/live.ts'
import { paths } from '#lib/paths.ts'
import { ErrorState } from '#ui/error-state.tsx'
import { Mark } from '#ui/mark.tsx'
import { ListSkeleton } from '#ui/skeleton.tsx'
import { LiveMark, OfflineStrip } from './live-mark.tsx'

/** The frame of every page of who is signed in: one row on top, the same on a desk and a phone. */
export function AppShell({ children }: { children: ReactNode }) {
  const me = useQuery(meQuery())
  // The list, not `me`, says what to follow: a machine that is connected may make a project meanwhile.
  const projects = useQuery(projectsQuery()).data?.items ?? []
  const project = useCurrentProject(projects[0]?.id ?? null)
  useLiveProjects(projects.map(({ id }) => id))
  const isSignedOut = isApiError(me.error, 'UNAUTHENTICATED')
  return (
    <>
      <a
        href="#main"
        className="sr-only z-50 rounded-md bg-surface px-3 py-2 focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        Skip to content
      </a>
      <header className="border-b border-line bg-surface">
        <div className="mx-auto flex h-12 max-w-7xl items-center gap-1 px-1.5 sm:gap-2 sm:px-4">
          <Link
            href={paths.home()}
            aria-label="Turnback, all projects"
            className="grid size-11 shrink-0 place-items-center rounded-md sm:size-8"
          >
            <Mark className="size-6" />
          </Link>
          <div className="min-w-0 flex-1 sm:flex-none">
            <ProjectSwitcher current={project} />
          </div>
          <MainNav project={project} />
          <div className="flex shrink-0 items-center gap-1 sm:ml-auto">
            <LiveMark />
            <UserMenu />
          </div>
        </div>
      </header>
      <OfflineStrip />
      <main id="main" tabIndex={-1} className="outline-none">
        {me.isError && me.data === undefined && !isSignedOut ? (
          <ErrorState {...describeError(me.error)} onRetry={() => void me.refetch()} />
        ) : me.data === undefined ? (
          <ListSkeleton label="Loading" />
        ) : (
          children
        )}
      </main>
    </>
  )
}

function MainNav({ project }: { project: ProjectId | null }) {
  const pathname = usePathname()
  const isAt = (path: string) => pathname === path || pathname.startsWith(`${path}/`)
  return (
    <nav aria-label="Main" className="flex shrink-0 items-center sm:gap-0.5">
      {project !== null && (
        <>
          <NavLink
            href={paths.turns(project)}
            label="Turns"
            icon={<History />}
            isCurrent={pathname === paths.turns(project) || isAt(`${paths.turns(project)}/turns`)}
          />
          <NavLink
            href={paths.restores(project)}
            label="Restores"
            icon={<Undo2 />}
            isCurrent={isAt(paths.restores(project))}
          />
        </>
      )}
      <NavLink
        href={paths.machines()}
        label="Machines"
        icon={<Laptop />}
        isCurrent={isAt(paths.machines())}
      />
    </nav>
  )
}

/** On a phone the icon alone; its name stays for those who listen. */
function NavLink({
  href,
  label,
  icon,
  isCurrent,
}: {
  href: string
  label: string
  icon: ReactNode
  isCurrent: boolean
}) {
  return (
    <Link
      href={href}
      aria-current={isCurrent ? 'page' : undefined}
      title={label}
      className="relative inline-flex h-11 min-w-11 items-center justify-center gap-1.5 rounded-md text-[0.8125rem] font-medium text-muted hover:bg-hover hover:text-text aria-[current]:text-text aria-[current]:after:absolute aria-[current]:after:inset-x-2 aria-[current]:after:-bottom-0.5 aria-[current]:after:h-0.5 aria-[current]:after:rounded-full aria-[current]:after:bg-accent sm:h-8 sm:min-w-0 sm:px-2.5 sm:aria-[current]:after:-bottom-2 [&>svg]:size-[1.125rem] sm:[&>svg]:size-4"
    >
      {icon}
      <span className="sr-only sm:not-sr-only">{label}</span>
    </Link>
  )
}

const LAST = 'turnback.project'

/** The project of the address; on pages without one, the last one that was looked at. */
function useCurrentProject(fallback: ProjectId | null): ProjectId | null {
  const params = useParams()
  const named = projectIdSchema.safeParse(params.project)
  const inAddress: ProjectId | null = named.success ? named.data : null
  const [last, setLast] = useState<ProjectId | null>(null)
  useEffect(() => {
    // A browser may refuse storage altogether; then the first project stands in.
    try {
      if (inAddress !== null) sessionStorage.setItem(LAST, inAddress)
      const known = projectIdSchema.safeParse(sessionStorage.getItem(LAST))
      setLast(known.success ? known.data : null)
    } catch {
      setLast(inAddress)
    }
  }, [inAddress])
  return inAddress ?? last ?? fallback
}
