'use client'

import { useMutation } from '@tanstack/react-query'
import type { ProjectId } from '@turnback/core'
import { Plus, RotateCw } from 'lucide-react'
import { useEffect, useState } from 'react'
import { describeError } from '#lib/errors.ts'
import { Button } from '#ui/button.tsx'
import { CommandLine } from '#ui/copy-button.tsx'
import { Note } from '#ui/note.tsx'
import { Sheet } from '#ui/sheet.tsx'
import { Spinner } from '#ui/spinner.tsx'
import { enrollmentMutation } from './machine-queries.ts'

/** A command with a one-time code, made when it is asked for: it lives ten minutes. */
export function ConnectCommand({ project }: { project: ProjectId | null }) {
  const enrollment = useMutation(enrollmentMutation())
  const { mutate } = enrollment
  useEffect(() => mutate(project), [mutate, project])
  const isOver = useIsOver(enrollment.data?.expiresAt)
  if (enrollment.isError) {
    const { message, remedy } = describeError(enrollment.error)
    return (
      <Note tone="error" title={message} action={<Button onClick={() => mutate(project)}>Try again</Button>}>
        {remedy}
      </Note>
    )
  }
  if (enrollment.data === undefined) {
    return (
      <p role="status" className="flex items-center justify-center gap-2 py-6 text-muted">
        <Spinner /> Making a one-time code…
      </p>
    )
  }
  if (isOver) {
    return (
      <Note
        title="This code is too old now."
        action={
          <Button onClick={() => mutate(project)} icon={<RotateCw className="size-4" />}>
            Make a new one
          </Button>
        }
      />
    )
  }
  return (
    <div className="text-left">
      <p className="mb-2 text-[0.8125rem] text-muted">Run this on the machine, in a terminal:</p>
      <CommandLine command={enrollment.data.command} label="Copy command" />
      <p className="mt-2 text-xs text-pretty text-faint">
        The code is good for one machine and ten minutes. The machine’s keys are made there and never leave
        it.
      </p>
    </div>
  )
}

/** Whether a moment has passed; looks again when it does. */
function useIsOver(at: string | undefined): boolean {
  const [over, setOver] = useState<string | null>(null)
  useEffect(() => {
    if (at === undefined) return
    const timer = setTimeout(() => setOver(at), Math.max(0, Date.parse(at) - Date.now()))
    return () => clearTimeout(timer)
  }, [at])
  return at !== undefined && over === at
}

export function ConnectMachineButton({ project }: { project: ProjectId | null }) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <>
      <Button tone="primary" icon={<Plus className="size-4" />} onClick={() => setIsOpen(true)}>
        Connect a machine
      </Button>
      <Sheet
        shape="dialog"
        isOpen={isOpen}
        onOpenChange={setIsOpen}
        title="Connect a machine"
        description="Its agents’ turns appear here as soon as it is connected."
      >
        {isOpen && <ConnectCommand project={project} />}
      </Sheet>
    </>
  )
}
