/** What a step of the test run amounts to. */
export interface Counts {
  passed: number
  failed: number
  skipped: number
}

interface VitestReport {
  numPassedTests: number
  numFailedTests: number
  numPendingTests: number
  numTodoTests: number
}

interface PlaywrightReport {
  stats: { expected: number; unexpected: number; flaky: number; skipped: number }
}

/** A step that is no test run: it holds or it does not. */
export function countCheck(exitCode: number): Counts {
  return { passed: exitCode === 0 ? 1 : 0, failed: exitCode === 0 ? 0 : 1, skipped: 0 }
}

export function countVitest(report: string | null, exitCode: number): Counts {
  return count(report, exitCode, (r: VitestReport) => ({
    passed: r.numPassedTests,
    failed: r.numFailedTests,
    skipped: r.numPendingTests + r.numTodoTests,
  }))
}

/** A flaky test passed in the end, and is counted as that; Playwright lists it by name. */
export function countPlaywright(report: string | null, exitCode: number): Counts {
  return count(report, exitCode, ({ stats }: PlaywrightReport) => ({
    passed: stats.expected + stats.flaky,
    failed: stats.unexpected,
    skipped: stats.skipped,
  }))
}

/**
 * The exit code has the last word: a file that does not load, an unhandled rejection or a set-up that breaks fail a run
 * in which no single test failed, or one that wrote no report at all (null).
 */
function count<Report>(text: string | null, exitCode: number, read: (report: Report) => Counts): Counts {
  const none = { passed: 0, failed: 0, skipped: 0 }
  const counts = text === null ? none : read(JSON.parse(text) as Report)
  if (exitCode !== 0 && counts.failed === 0) return { ...counts, failed: 1 }
  if (exitCode === 0 && counts.passed === 0) return { ...counts, failed: counts.failed + 1 }
  return counts
}
