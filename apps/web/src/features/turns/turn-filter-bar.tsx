'use client'

import { useQuery } from '@tanstack/react-query'
import { turnKindSchema } from '@turnback/core'
import type { TurnSummary } from '@turnback/core/api'
import { Search, SlidersHorizontal, X } from 'lucide-react'
import { type Ref, useEffect, useState } from 'react'
import { Button } from '#ui/button.tsx'
import { controlClass, Select } from '#ui/field.tsx'
import { countFilters, type FilterName, type TurnFilters } from './turn-filters.ts'
import { machineNamesQuery } from './turn-queries.ts'
import { kindWords } from './turn-words.ts'

interface TurnFilterBarProps {
  readonly filters: TurnFilters
  readonly shown: readonly TurnSummary[]
  readonly onChange: (name: FilterName, value: string) => void
  readonly onClear: () => void
  readonly searchRef: Ref<HTMLInputElement>
}

/** On a phone the search stays in sight and the rest opens on demand. */
export function TurnFilterBar({ filters, shown, onChange, onClear, searchRef }: TurnFilterBarProps) {
  const [isOpen, setIsOpen] = useState(false)
  const count = countFilters(filters)
  const beyondSearch = count - (filters.q === undefined ? 0 : 1)
  return (
    <search className="flex flex-wrap items-center gap-2" aria-label="Filter turns">
      <TextFilter
        label="Search prompts and paths"
        value={filters.q ?? ''}
        onChange={(value) => onChange('q', value)}
        inputRef={searchRef}
        className="min-w-0 flex-1 basis-48"
      />
      <Button
        className="sm:hidden"
        aria-expanded={isOpen}
        aria-controls="turn-filters"
        icon={<SlidersHorizontal className="size-4" />}
        onClick={() => setIsOpen(!isOpen)}
      >
        Filters{beyondSearch > 0 ? ` (${beyondSearch})` : ''}
      </Button>
      <div
        id="turn-filters"
        className={`w-full grid-cols-2 gap-2 sm:flex sm:w-auto sm:flex-wrap ${isOpen ? 'grid' : 'hidden'}`}
      >
        <FilterChoices filters={filters} shown={shown} onChange={onChange} />
        {count > 0 && (
          <Button tone="quiet" onClick={onClear} icon={<X className="size-4" />}>
            Clear
          </Button>
        )}
      </div>
    </search>
  )
}

function FilterChoices({
  filters,
  shown,
  onChange,
}: Pick<TurnFilterBarProps, 'filters' | 'shown' | 'onChange'>) {
  const machines = useQuery(machineNamesQuery())
  // The service has no list of agents; those seen, and the one that is asked for, can be chosen.
  const agents = new Set(shown.flatMap((turn) => (turn.agent === null ? [] : [turn.agent])))
  if (filters.agent !== undefined) agents.add(filters.agent)
  return (
    <>
      <Select
        label="Kind"
        className="sm:w-36"
        value={filters.kind ?? ''}
        onChange={(event) => onChange('kind', event.target.value)}
      >
        <option value="">All kinds</option>
        {turnKindSchema.options.map((kind) => (
          <option key={kind} value={kind}>
            {kindWords[kind]}
          </option>
        ))}
      </Select>
      <Select
        label="Agent"
        className="sm:w-36"
        value={filters.agent ?? ''}
        onChange={(event) => onChange('agent', event.target.value)}
      >
        <option value="">All agents</option>
        {[...agents].sort().map((agent) => (
          <option key={agent}>{agent}</option>
        ))}
      </Select>
      <Select
        label="Machine"
        className="sm:w-36"
        value={filters.machine ?? ''}
        onChange={(event) => onChange('machine', event.target.value)}
      >
        <option value="">All machines</option>
        {machines.data?.items.map((machine) => (
          <option key={machine.id} value={machine.id}>
            {machine.name}
          </option>
        ))}
      </Select>
      <TextFilter
        label="Path"
        value={filters.path ?? ''}
        onChange={(value) => onChange('path', value)}
        className="sm:w-40"
        hasIcon={false}
      />
    </>
  )
}

interface TextFilterProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly inputRef?: Ref<HTMLInputElement>
  readonly className: string
  readonly hasIcon?: boolean
}

/** Asks again when typing rests, not with every letter. */
function TextFilter({ label, value, onChange, inputRef, className, hasIcon = true }: TextFilterProps) {
  const [text, setText] = useState(value)
  const [settled, setSettled] = useState(value)
  if (settled !== value) {
    setSettled(value)
    // The address changed by itself (back, clear); what is typed since then stays.
    if (text.trim() === settled) setText(value)
    else if (value === '') setText('')
  }
  useEffect(() => {
    if (text.trim() === value) return
    const timer = setTimeout(() => onChange(text), 250)
    return () => clearTimeout(timer)
  }, [text, value, onChange])
  return (
    <div className={`relative ${className}`}>
      {hasIcon && (
        <Search
          className="pointer-events-none absolute top-1/2 left-2.5 size-4 -translate-y-1/2 text-faint"
          aria-hidden="true"
        />
      )}
      <input
        ref={inputRef}
        type="search"
        aria-label={label}
        placeholder={label}
        value={text}
        maxLength={200}
        onChange={(event) => setText(event.target.value)}
        className={`${controlClass} ${hasIcon ? 'pl-8' : ''} [&::-webkit-search-cancel-button]:hidden`}
      />
    </div>
  )
}
