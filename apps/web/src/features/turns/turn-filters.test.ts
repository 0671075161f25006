import { expect, it } from 'vitest'
import { countFilters, parseTurnFilters, withFilter } from './turn-filters.ts'

it('reads filters from an address and leaves out what is none', () => {
  const search = new URLSearchParams('q=+cart+&kind=agent&machine=nonsense&path=&other=1')
  expect(parseTurnFilters(search)).toEqual({ q: 'cart', kind: 'agent' })
  expect(parseTurnFilters(new URLSearchParams('kind=everything'))).toEqual({})
})

it('changes one filter and keeps the others', () => {
  expect(withFilter(new URLSearchParams('q=a&kind=task'), 'q', ' b ')).toBe('q=b&kind=task')
  expect(withFilter(new URLSearchParams('q=a&kind=task'), 'q', ' ')).toBe('kind=task')
})

it('counts what narrows the list', () => {
  expect(countFilters({})).toBe(0)
  expect(countFilters({ q: 'a', path: 'src' })).toBe(2)
})
