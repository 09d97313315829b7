// @ts-check

/** @typedef {{ passed: number, failed: number }} Tally */

/**
 * Reads a test runner's JSON report. A runner that failed without naming a test, or that ran none, has one failure:
 * neither may pass for success.
 * @param {'vitest' | 'playwright'} runner
 * @param {string | undefined} report content of the report, undefined where none was written
 * @param {number} exitCode
 * @returns {Tally}
 */
export function tally(runner, report, exitCode) {
  const counted = report === undefined ? { passed: 0, failed: 0 } : count(runner, JSON.parse(report));
  const isSilentFailure = counted.failed === 0 && (exitCode !== 0 || counted.passed === 0);
  return isSilentFailure ? { ...counted, failed: 1 } : counted;
}

/**
 * @param {'vitest' | 'playwright'} runner
 * @param {{ numPassedTests?: number, numFailedTests?: number,
 *   stats?: { expected: number, flaky: number, unexpected: number } }} report
 * @returns {Tally}
 */
function count(runner, report) {
  if (runner === 'vitest') return { passed: report.numPassedTests ?? 0, failed: report.numFailedTests ?? 0 };
  const stats = report.stats ?? { expected: 0, flaky: 0, unexpected: 0 };
  return { passed: stats.expected + stats.flaky, failed: stats.unexpected };
}

/**
 * Adds up what all runners counted; a run without any test has failed.
 * @param {readonly Tally[]} tallies
 * @param {number} failedSteps checks that are no tests, such as lint
 * @returns {{ line: string, ok: boolean }}
 */
export function closingLine(tallies, failedSteps) {
  const passed = tallies.reduce((sum, one) => sum + one.passed, 0);
  const found = tallies.reduce((sum, one) => sum + one.failed, 0) + failedSteps;
  const failed = passed === 0 && found === 0 ? 1 : found;
  return { line: `${passed} passed, ${failed} failed`, ok: failed === 0 };
}
