import type { TurnSummary } from '@turnback/core/api'
import { expect, it } from 'vitest'
import { restOfPrompt } from './turn-prompt.tsx'
import { titleOf } from './turn-words.ts'

type Titled = Pick<TurnSummary, 'kind' | 'prompt' | 'label' | 'number'>
const turn = (over: Partial<Titled>): Titled => ({
  kind: 'agent',
  prompt: null,
  label: null,
  number: 7,
  ...over,
})

it('calls a turn by the first line of its prompt that says something', () => {
  expect(titleOf(turn({ prompt: '\n  \n  Fix the cart  \nand test it' }))).toBe('Fix the cart')
})

it('calls turns without a prompt by what they are', () => {
  expect(titleOf(turn({}))).toBe('Turn 7, no prompt recorded')
  expect(titleOf(turn({ kind: 'checkpoint', label: 'before the move' }))).toBe('Checkpoint: before the move')
  expect(titleOf(turn({ kind: 'restore' }))).toBe('Rewind (turn 7)')
  expect(titleOf(turn({ kind: 'outside' }))).toBe('Changes made outside of turns')
})

it('does not say the first line twice', () => {
  expect(restOfPrompt('Fix it\n\nand test it\n', 'Fix it')).toBe('and test it')
  expect(restOfPrompt('Fix it', 'Fix it')).toBe('')
  expect(restOfPrompt('Fix it', 'A label')).toBe('Fix it')
})
