/** Holds the place of a list until it is here. */
export function ListSkeleton({ label, rows = 8 }: { label: string; rows?: number }) {
  return (
    <div role="status" className="mx-auto w-full max-w-5xl px-4 py-6">
      <span className="sr-only">{label}…</span>
      <div className="skeleton mb-6 h-5 w-40" />
      <div className="divide-y divide-line rounded-xl border border-line bg-surface">
        {Array.from({ length: rows }, (_, row) => (
          // Rows of a placeholder have nothing else.
          <div key={row} className="flex items-center gap-3 px-4 py-3.5">
            <div className="skeleton size-7 rounded-full" />
            <div className="flex-1 space-y-2">
              <div
                className={`skeleton h-3.5 ${row % 3 === 0 ? 'w-3/5' : row % 3 === 1 ? 'w-2/5' : 'w-1/2'}`}
              />
              <div className="skeleton h-3 w-1/4" />
            </div>
          </div>
        ))}
      </div>
    </div>
  )
}
