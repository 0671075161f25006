import { errorCatalogue } from '@turnback/core'
import { expect, it } from 'vitest'
import { ApiError } from './api.ts'
import { describeError, textOfCode } from './errors.ts'

it('has a message and a remedy for every code of the catalogue', () => {
  for (const code of Object.keys(errorCatalogue)) {
    const text = textOfCode(code)
    expect(text.message, code).not.toBe('')
    expect(text.remedy, code).not.toBe('')
  }
})

it('says when to try again', () => {
  const error = new ApiError('RATE_LIMITED', 'x', { status: 429, retryAfterSeconds: 12 })
  expect(describeError(error).remedy).toBe('Try again in 12 s.')
})

it('shows the message of a code that is newer than the page', () => {
  expect(textOfCode('FROM_THE_FUTURE', 'Said by a newer machine.').message).toBe('Said by a newer machine.')
})

it('shows nothing of an error that is not the service’s', () => {
  const text = describeError(new Error('secret of a stack trace'))
  expect(text.code).toBe('INTERNAL')
  expect(JSON.stringify(text)).not.toContain('secret')
})
