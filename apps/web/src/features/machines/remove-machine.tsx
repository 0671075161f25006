'use client'

import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Machine } from '@turnback/core/api'
import { routes } from '@turnback/core/api'
import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import { describeError } from '#lib/errors.ts'
import { Button, IconButton } from '#ui/button.tsx'
import { Note } from '#ui/note.tsx'
import { Sheet } from '#ui/sheet.tsx'
import { showToast } from '#ui/toast.tsx'
import { removeMachineMutation } from './machine-queries.ts'

export function RemoveMachine({ machine }: { machine: Machine }) {
  const [isOpen, setIsOpen] = useState(false)
  const queryClient = useQueryClient()
  const remove = useMutation({
    ...removeMachineMutation(),
    onSuccess: async () => {
      setIsOpen(false)
      showToast(`${machine.name} was removed`)
      await queryClient.invalidateQueries({ queryKey: [routes.listMachines.path] })
    },
  })
  return (
    <>
      <IconButton
        label={`Remove ${machine.name}`}
        icon={<Trash2 className="size-4" />}
        onClick={() => setIsOpen(true)}
      />
      <Sheet
        shape="dialog"
        isOpen={isOpen}
        onOpenChange={setIsOpen}
        title={`Remove ${machine.name}?`}
        footer={
          <>
            <Button
              tone="danger"
              size="large"
              isBusy={remove.isPending}
              onClick={() => remove.mutate(machine.id)}
            >
              Remove machine
            </Button>
            <Button size="large" onClick={() => setIsOpen(false)}>
              Keep it
            </Button>
          </>
        }
      >
        <p className="text-pretty text-muted">
          Its link is closed at once, and it can neither send turns nor be rewound from here. Turns it has
          sent stay, and so does everything on the machine itself. It can be connected again with a new code.
        </p>
        {remove.isError && (
          <div className="mt-3">
            <Note tone="error" title={describeError(remove.error).message}>
              {describeError(remove.error).remedy}
            </Note>
          </div>
        )}
      </Sheet>
    </>
  )
}
