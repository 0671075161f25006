import type { Metadata } from 'next'
import { FirstMachine } from '#features/machines/first-machine.tsx'
import { TurnList } from '#features/turns/turn-list.tsx'
import { getProjectId } from './ids.ts'

export const metadata: Metadata = { title: 'Turns' }

export default async function TurnsPage({ params }: { params: Promise<{ project: string }> }) {
  const project = getProjectId(await params)
  return <TurnList project={project} empty={<FirstMachine project={project} />} />
}
