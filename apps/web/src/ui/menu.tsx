'use client'

import { Menu as BaseMenu } from '@base-ui/react/menu'
import { Check } from 'lucide-react'
import type { ReactElement, ReactNode } from 'react'

interface MenuProps {
  readonly trigger: ReactElement
  readonly align?: 'start' | 'end'
  readonly children: ReactNode
}

const itemClass =
  'flex min-h-8 w-full cursor-default items-center gap-2 rounded-md px-2 text-[0.8125rem] outline-none select-none data-highlighted:bg-hover touch:min-h-11 [&>svg]:size-4 [&>svg]:text-muted'

export function Menu({ trigger, align = 'start', children }: MenuProps) {
  return (
    <BaseMenu.Root modal={false}>
      <BaseMenu.Trigger render={trigger} />
      <BaseMenu.Portal>
        <BaseMenu.Positioner align={align} sideOffset={6} className="z-50 outline-none">
          <BaseMenu.Popup className="max-h-[70dvh] max-w-[calc(100vw-1rem)] min-w-52 overflow-y-auto rounded-lg border border-line bg-surface p-1 text-text shadow-pop outline-none transition-[transform,opacity] duration-100 data-ending-style:scale-98 data-ending-style:opacity-0 data-starting-style:scale-98 data-starting-style:opacity-0">
            {children}
          </BaseMenu.Popup>
        </BaseMenu.Positioner>
      </BaseMenu.Portal>
    </BaseMenu.Root>
  )
}

interface MenuItemProps {
  readonly icon?: ReactNode
  readonly onSelect?: () => void
  /** A link to go to instead of something to do. */
  readonly link?: ReactElement
  readonly isCurrent?: boolean
  readonly children: ReactNode
}

export function MenuItem({ icon, onSelect, link, isCurrent = false, children }: MenuItemProps) {
  const inside = (
    <>
      {icon}
      <span className="min-w-0 flex-1 truncate text-left">{children}</span>
      {isCurrent && <Check aria-label="current" />}
    </>
  )
  if (link !== undefined) {
    return (
      <BaseMenu.LinkItem closeOnClick render={link} className={itemClass}>
        {inside}
      </BaseMenu.LinkItem>
    )
  }
  return (
    <BaseMenu.Item className={itemClass} onClick={onSelect}>
      {inside}
    </BaseMenu.Item>
  )
}

interface MenuChoiceProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly options: readonly { readonly value: string; readonly label: string; readonly icon: ReactNode }[]
}

/** One of a few, inside a menu. */
export function MenuChoice({ label, value, onChange, options }: MenuChoiceProps) {
  return (
    <BaseMenu.Group>
      <BaseMenu.GroupLabel className="px-2 pt-1.5 pb-1 text-xs text-faint">{label}</BaseMenu.GroupLabel>
      <BaseMenu.RadioGroup value={value} onValueChange={(next: unknown) => onChange(String(next))}>
        {options.map((option) => (
          <BaseMenu.RadioItem key={option.value} value={option.value} className={itemClass}>
            {option.icon}
            <span className="flex-1">{option.label}</span>
            <BaseMenu.RadioItemIndicator>
              <Check className="size-4" />
            </BaseMenu.RadioItemIndicator>
          </BaseMenu.RadioItem>
        ))}
      </BaseMenu.RadioGroup>
    </BaseMenu.Group>
  )
}

export function MenuDivider() {
  return <BaseMenu.Separator className="my-1 h-px bg-line" />
}
