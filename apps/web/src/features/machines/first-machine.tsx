'use client'

import type { ProjectId } from '@turnback/core'
import { TerminalSquare } from 'lucide-react'
import { useState } from 'react'
import { Button } from '#ui/button.tsx'
import { EmptyState } from '#ui/empty-state.tsx'
import { ConnectCommand } from './connect-machine.tsx'

const steps = [
  { title: 'Connect', text: 'One command makes this machine’s keys and links it to your account.' },
  {
    title: 'Work as always',
    text: 'Each turn of your agent is recorded: the files before, and what it changed.',
  },
  { title: 'Rewind', text: 'See a turn here, on any device, and put the files back with one tap.' },
] as const

/** A project without turns: what to do, not what is missing. */
export function FirstMachine({ project }: { project: ProjectId | null }) {
  const [isAsked, setIsAsked] = useState(false)
  return (
    <EmptyState
      icon={<TerminalSquare />}
      level={1}
      title="No turn yet: connect the machine your agent runs on"
      action={
        isAsked ? (
          <ConnectCommand project={project} />
        ) : (
          <Button tone="primary" size="large" onClick={() => setIsAsked(true)}>
            Connect a machine
          </Button>
        )
      }
    >
      <ol className="mt-6 grid gap-4 text-left sm:grid-cols-3">
        {steps.map((step, place) => (
          <li key={step.title} className="rounded-xl border border-line bg-surface p-4">
            <span className="text-xs text-faint tabular-nums">{place + 1}</span>
            <p className="font-medium text-text">{step.title}</p>
            <p className="mt-1 text-[0.8125rem] text-pretty">{step.text}</p>
          </li>
        ))}
      </ol>
    </EmptyState>
  )
}
