import { SearchX } from 'lucide-react'
import Link from 'next/link'
import { paths } from '#lib/paths.ts'
import { buttonClass } from '#ui/button.tsx'
import { EmptyState } from '#ui/empty-state.tsx'

export default function NotFound() {
  return (
    <main>
      <EmptyState
        icon={<SearchX />}
        level={1}
        title="There is nothing at this address"
        action={
          <Link href={paths.home()} className={buttonClass('plain', 'large')}>
            To your projects
          </Link>
        }
      >
        It may be mistyped, or you may not be a member of its project.
      </EmptyState>
    </main>
  )
}
