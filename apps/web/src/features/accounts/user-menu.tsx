'use client'

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { LogOut, Monitor, Moon, Sun } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { useTheme } from 'next-themes'
import { describeError } from '#lib/errors.ts'
import { paths } from '#lib/paths.ts'
import { Menu, MenuChoice, MenuDivider, MenuItem } from '#ui/menu.tsx'
import { showToast } from '#ui/toast.tsx'
import { meQuery, signOutMutation } from './account-queries.ts'

const themes = [
  { value: 'light', label: 'Light', icon: <Sun /> },
  { value: 'dark', label: 'Dark', icon: <Moon /> },
  { value: 'system', label: 'System', icon: <Monitor /> },
] as const

/** Two letters to know oneself by. */
function initialsOf(name: string): string {
  const words = name.trim().split(/\s+/u)
  const letters = [words[0], words.length > 1 ? words.at(-1) : undefined].map(
    (word) => [...(word ?? '')][0] ?? '',
  )
  return letters.join('').toUpperCase()
}

export function UserMenu() {
  const me = useQuery(meQuery())
  const { theme = 'system', setTheme } = useTheme()
  const router = useRouter()
  const queryClient = useQueryClient()
  const signOut = useMutation({
    ...signOutMutation(),
    onSuccess: () => {
      router.replace(paths.login())
      queryClient.clear()
    },
    onError: (error) => showToast('You are still signed in', describeError(error).message),
  })
  return (
    <Menu
      align="end"
      trigger={
        <button
          type="button"
          aria-label="Account and theme"
          className="grid h-11 w-11 place-items-center rounded-md sm:h-9 sm:w-9"
        >
          <span
            data-initials={me.data === undefined ? '' : initialsOf(me.data.person.name)}
            className="grid size-7 place-items-center rounded-full bg-accent-soft text-[0.6875rem] font-semibold text-accent-text before:content-[attr(data-initials)]"
          />
        </button>
      }
    >
      {me.data !== undefined && (
        <div className="px-2 pt-1.5 pb-2">
          <p className="truncate font-medium">{me.data.person.name}</p>
          <p className="truncate text-xs text-faint">{me.data.person.email}</p>
        </div>
      )}
      <MenuDivider />
      <MenuChoice label="Theme" value={theme} onChange={setTheme} options={themes} />
      <MenuDivider />
      <MenuItem icon={<LogOut />} onSelect={() => signOut.mutate()}>
        Sign out
      </MenuItem>
    </Menu>
  )
}
