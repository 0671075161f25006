'use client'

import { type Scope, scopeSchema } from '@turnback/core'
import type { Restore } from '@turnback/core/api'
import { Select } from '#ui/field.tsx'
import type { RestoreAsk } from './restore-queries.ts'

const scopes: readonly { value: Scope; label: string }[] = [
  { value: 'from-turn', label: 'This turn and the later ones of its session' },
  { value: 'turn', label: 'Only this turn, later ones stay' },
  { value: 'session', label: 'The whole session' },
  { value: 'all-sessions', label: 'This and all later turns of every session' },
]

/** How much is rewound. A change asks the machine for another plan. */
export function PlanOptions({
  restore,
  onAskAgain,
}: {
  restore: Restore
  onAskAgain: (ask: RestoreAsk, before: Restore) => void
}) {
  const request = restore.request
  if (request === null) return null
  const again = (change: Partial<RestoreAsk>) => {
    const { workspace, turn, scope, paths, onConflict, exact, allowHeadChange } = request
    const kept = {
      workspace,
      turn,
      scope,
      onConflict,
      exact,
      allowHeadChange,
      ...(paths === undefined ? {} : { paths }),
    }
    onAskAgain({ ...kept, mode: 'preview', ...change }, restore)
  }
  return (
    <details className="mt-4 rounded-lg border border-line">
      <summary className="flex min-h-11 items-center px-3 font-medium">How much to rewind</summary>
      <div className="space-y-3 border-t border-line p-3">
        <Select
          label="Turns to rewind"
          value={request.scope}
          onChange={(event) => {
            const scope = scopeSchema.safeParse(event.target.value)
            if (scope.success) again({ scope: scope.data })
          }}
        >
          {scopes.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </Select>
        <label className="flex min-h-11 items-start gap-2.5">
          <input
            type="checkbox"
            checked={request.exact}
            onChange={(event) => again({ exact: event.target.checked })}
            className="mt-0.5 size-4 shrink-0 accent-accent"
          />
          <span>
            <span className="block font-medium">Also what was changed outside of turns</span>
            <span className="block text-[0.8125rem] text-muted">
              Your own edits since then go too. Undo brings them back.
            </span>
          </span>
        </label>
      </div>
    </details>
  )
}
