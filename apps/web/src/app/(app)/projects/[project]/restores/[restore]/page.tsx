import type { Metadata } from 'next'
import { getProjectId, getRestoreId } from '#app/(app)/projects/[project]/ids.ts'
import { RestorePage } from '#features/restores/restore-page.tsx'

export const metadata: Metadata = { title: 'Rewind' }

export default async function Page({ params }: { params: Promise<{ project: string; restore: string }> }) {
  const ids = await params
  const restore = getRestoreId(ids)
  return <RestorePage key={restore} project={getProjectId(ids)} id={restore} />
}
