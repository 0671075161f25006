'use client'

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import type { Project } from '@turnback/core/api'
import { routes } from '@turnback/core/api'
import { ChevronRight, FolderGit2 } from 'lucide-react'
import Link from 'next/link'
import { useRouter } from 'next/navigation'
import { type FormEvent, type ReactNode, useEffect } from 'react'
import { describeError } from '#lib/errors.ts'
import { formatAgo, plural } from '#lib/format.ts'
import { paths } from '#lib/paths.ts'
import { Button } from '#ui/button.tsx'
import { ErrorState } from '#ui/error-state.tsx'
import { Field } from '#ui/field.tsx'
import { Note } from '#ui/note.tsx'
import { ListSkeleton } from '#ui/skeleton.tsx'
import { createProjectMutation, projectsQuery } from './project-queries.ts'

/** The projects to choose from; who has one only is led into it. */
export function ProjectChooser({ empty }: { empty: ReactNode }) {
  const projects = useQuery(projectsQuery())
  const router = useRouter()
  const only = projects.data?.items.length === 1 ? projects.data.items[0]?.id : undefined
  useEffect(() => {
    if (only !== undefined) router.replace(paths.turns(only))
  }, [only, router])

  if (projects.isError && projects.data === undefined) {
    return <ErrorState {...describeError(projects.error)} onRetry={() => void projects.refetch()} />
  }
  if (projects.data === undefined || only !== undefined) return <ListSkeleton label="Loading projects" />
  if (projects.data.items.length === 0) {
    return (
      <>
        {empty}
        <div className="mx-auto w-full max-w-xl px-4 pb-16">
          <NewProject />
        </div>
      </>
    )
  }
  return (
    <div className="mx-auto w-full max-w-2xl px-4 py-8">
      <h1 className="text-xl font-semibold tracking-tight">Projects</h1>
      <ul className="mt-4 divide-y divide-line overflow-hidden rounded-xl border border-line bg-surface">
        {projects.data.items.map((project) => (
          <ProjectRow key={project.id} project={project} />
        ))}
      </ul>
      <div className="mt-4">
        <NewProject />
      </div>
    </div>
  )
}

function ProjectRow({ project }: { project: Project }) {
  const last =
    project.lastTurnAt === null ? 'no turn yet' : `last ${formatAgo(project.lastTurnAt, new Date())}`
  return (
    <li>
      <Link
        href={paths.turns(project.id)}
        className="flex min-h-14 items-center gap-3 px-4 py-2.5 hover:bg-hover"
      >
        <FolderGit2 className="size-4 shrink-0 text-faint" aria-hidden="true" />
        <span className="min-w-0 flex-1">
          <span className="block truncate font-medium">{project.name}</span>
          <span className="block text-xs text-faint tabular-nums">
            {plural(project.turnCount, 'turn')} · {last}
          </span>
        </span>
        <ChevronRight className="size-4 shrink-0 text-faint" aria-hidden="true" />
      </Link>
    </li>
  )
}

function NewProject() {
  const router = useRouter()
  const queryClient = useQueryClient()
  const create = useMutation({
    ...createProjectMutation(),
    onSuccess: async (project) => {
      await queryClient.invalidateQueries({ queryKey: [routes.listProjects.path] })
      router.push(paths.turns(project.id))
    },
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    create.mutate(String(new FormData(event.currentTarget).get('name')).trim())
  }
  return (
    <details className="rounded-xl border border-line bg-surface">
      <summary className="flex min-h-11 items-center px-4 font-medium">New project</summary>
      <form onSubmit={submit} className="flex flex-col gap-3 border-t border-line p-4">
        {create.isError && <Note tone="error" title={describeError(create.error).message} />}
        <Field
          label="Project name"
          name="name"
          required
          maxLength={100}
          hint="A project holds the turns of one code base, from all machines that work on it."
        />
        <Button type="submit" tone="primary" isBusy={create.isPending}>
          Create project
        </Button>
      </form>
    </details>
  )
}
