'use client'

import { useQuery } from '@tanstack/react-query'
import type { ProjectId } from '@turnback/core'
import { ChevronsUpDown, FolderGit2, LayoutGrid } from 'lucide-react'
import Link from 'next/link'
import { paths } from '#lib/paths.ts'
import { Menu, MenuDivider, MenuItem } from '#ui/menu.tsx'
import { projectsQuery } from './project-queries.ts'

/** Names the project one is in, and leads to the others. */
export function ProjectSwitcher({ current }: { current: ProjectId | null }) {
  const projects = useQuery(projectsQuery())
  const items = projects.data?.items ?? []
  const name = items.find((project) => project.id === current)?.name
  const label = name ?? (current === null ? 'Projects' : '…')
  return (
    <Menu
      trigger={
        <button
          type="button"
          aria-label={`Project: ${label}. Switch project`}
          className="flex h-11 max-w-full min-w-0 items-center gap-1.5 rounded-md px-2 font-medium hover:bg-hover sm:h-8 sm:max-w-72"
        >
          <span className="truncate">{label}</span>
          <ChevronsUpDown className="size-3.5 shrink-0 text-faint" aria-hidden="true" />
        </button>
      }
    >
      {items.map((project) => (
        <MenuItem
          key={project.id}
          icon={<FolderGit2 />}
          isCurrent={project.id === current}
          link={<Link href={paths.turns(project.id)} />}
        >
          {project.name}
        </MenuItem>
      ))}
      {items.length > 0 && <MenuDivider />}
      <MenuItem icon={<LayoutGrid />} link={<Link href={paths.home()} />}>
        All projects
      </MenuItem>
    </Menu>
  )
}
