import type { Metadata } from 'next'
import { getProjectId, getTurnId } from '#app/(app)/projects/[project]/ids.ts'
import { TurnScreen } from './turn-screen.tsx'

export const metadata: Metadata = { title: 'Turn' }

export default async function Page({ params }: { params: Promise<{ project: string; turn: string }> }) {
  const ids = await params
  const turn = getTurnId(ids)
  return <TurnScreen key={turn} project={getProjectId(ids)} turn={turn} />
}
