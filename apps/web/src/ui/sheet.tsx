'use client'

import { Dialog } from '@base-ui/react/dialog'
import { X } from 'lucide-react'
import type { ReactNode } from 'react'
import { IconButton } from './button.tsx'

interface SheetProps {
  readonly isOpen: boolean
  readonly onOpenChange: (isOpen: boolean) => void
  readonly title: string
  readonly description?: ReactNode
  readonly footer?: ReactNode
  /** A wide one comes from the side on a desk; a dialog stands in the middle. Both rise from the bottom on a phone. */
  readonly shape?: 'side' | 'dialog'
  readonly children: ReactNode
}

const shapes = {
  side: 'sm:inset-y-0 sm:right-0 sm:left-auto sm:max-h-none sm:w-[30rem] sm:rounded-none sm:border-y-0 sm:border-r-0 sm:data-starting-style:translate-x-8 sm:data-ending-style:translate-x-8',
  dialog:
    'sm:inset-x-0 sm:top-[12vh] sm:bottom-auto sm:mx-auto sm:max-h-[76vh] sm:w-[32rem] sm:rounded-xl sm:border',
} as const

export function Sheet({
  isOpen,
  onOpenChange,
  title,
  description,
  footer,
  shape = 'side',
  children,
}: SheetProps) {
  return (
    <Dialog.Root open={isOpen} onOpenChange={onOpenChange}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-black/35 transition-opacity duration-200 data-ending-style:opacity-0 data-starting-style:opacity-0 dark:bg-black/60" />
        <Dialog.Popup
          className={`fixed inset-x-0 bottom-0 z-50 flex max-h-[92dvh] flex-col rounded-t-2xl border border-line bg-surface text-text shadow-pop outline-none transition-[transform,opacity] duration-200 ease-out data-ending-style:translate-y-8 data-ending-style:opacity-0 data-starting-style:translate-y-8 data-starting-style:opacity-0 sm:data-ending-style:translate-y-0 sm:data-starting-style:translate-y-0 ${shapes[shape]}`}
        >
          <header className="flex items-start gap-2 border-b border-line py-2.5 pr-2 pl-4">
            <div className="min-w-0 flex-1 py-1">
              <Dialog.Title className="text-[0.9375rem] font-semibold text-balance">{title}</Dialog.Title>
              {description !== undefined && (
                <Dialog.Description className="mt-0.5 text-[0.8125rem] text-muted [overflow-wrap:anywhere]">
                  {description}
                </Dialog.Description>
              )}
            </div>
            <Dialog.Close render={<IconButton label="Close" icon={<X className="size-4" />} />} />
          </header>
          <div className="min-h-0 flex-1 overflow-y-auto overscroll-contain px-4 py-4">{children}</div>
          {footer !== undefined && (
            <footer className="flex flex-col gap-2 border-t border-line px-4 pt-3 pb-[max(0.75rem,env(safe-area-inset-bottom))] sm:flex-row-reverse">
              {footer}
            </footer>
          )}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
