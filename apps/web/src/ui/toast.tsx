'use client'

import { Toast } from '@base-ui/react/toast'
import { X } from 'lucide-react'
import { IconButton } from './button.tsx'

const manager = Toast.createToastManager()

/** Tells of something that ended in the background. What belongs to a form or a sheet is said there. */
export function showToast(title: string, description?: string): void {
  manager.add({ title, ...(description === undefined ? {} : { description }) })
}

export function Toasts() {
  return (
    <Toast.Provider toastManager={manager} timeout={6000} limit={3}>
      <Toast.Portal>
        <Toast.Viewport className="fixed right-4 bottom-4 left-4 z-[60] flex flex-col gap-2 sm:left-auto sm:w-88">
          <ToastList />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  )
}

function ToastList() {
  const { toasts } = Toast.useToastManager()
  return toasts.map((toast) => (
    <Toast.Root
      key={toast.id}
      toast={toast}
      className="rounded-lg border border-line bg-surface text-text shadow-pop transition-[transform,opacity] duration-200 data-ending-style:translate-y-2 data-ending-style:opacity-0 data-limited:hidden data-starting-style:translate-y-2 data-starting-style:opacity-0"
    >
      <Toast.Content className="flex items-start gap-2 py-1.5 pr-1.5 pl-3.5">
        <div className="min-w-0 flex-1 py-1.5">
          <Toast.Title className="font-medium [overflow-wrap:anywhere]" />
          <Toast.Description className="text-muted [overflow-wrap:anywhere]" />
        </div>
        <Toast.Close render={<IconButton label="Dismiss" icon={<X className="size-4" />} />} />
      </Toast.Content>
    </Toast.Root>
  ))
}
