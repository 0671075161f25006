import type { Metadata } from 'next'
import { getProjectId } from '#app/(app)/projects/[project]/ids.ts'
import { RestoreList } from '#features/restores/restore-list.tsx'

export const metadata: Metadata = { title: 'Restores' }

export default async function RestoresPage({ params }: { params: Promise<{ project: string }> }) {
  return <RestoreList project={getProjectId(await params)} />
}
