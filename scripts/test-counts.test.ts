import { describe, expect, test } from 'vitest'
import { countCheck, countPlaywright, countVitest } from './test-counts.ts'

const vitestReport = (passed: number, failed: number) =>
  JSON.stringify({ numPassedTests: passed, numFailedTests: failed, numPendingTests: 1, numTodoTests: 2 })

describe('counts of a step', () => {
  test('a check is one', () => {
    expect(countCheck(0)).toEqual({ passed: 1, failed: 0, skipped: 0 })
    expect(countCheck(2)).toEqual({ passed: 0, failed: 1, skipped: 0 })
  })

  test('tests are counted one by one', () => {
    expect(countVitest(vitestReport(5, 0), 0)).toEqual({ passed: 5, failed: 0, skipped: 3 })
    expect(countVitest(vitestReport(5, 2), 1)).toEqual({ passed: 5, failed: 2, skipped: 3 })
  })

  test('a run that failed without a failed test has one failure', () => {
    expect(countVitest(vitestReport(5, 0), 1)).toEqual({ passed: 5, failed: 1, skipped: 3 })
  })

  test('a run without a report has failed, whatever its exit code', () => {
    expect(countVitest(null, 1)).toEqual({ passed: 0, failed: 1, skipped: 0 })
    expect(countPlaywright(null, 0)).toEqual({ passed: 0, failed: 1, skipped: 0 })
  })

  test('a run in which nothing ran has failed', () => {
    expect(countVitest(vitestReport(0, 0), 0)).toEqual({ passed: 0, failed: 1, skipped: 3 })
  })

  test('a flaky browser test passed', () => {
    const report = JSON.stringify({ stats: { expected: 3, unexpected: 1, flaky: 2, skipped: 4 } })
    expect(countPlaywright(report, 1)).toEqual({ passed: 5, failed: 1, skipped: 4 })
  })
})
