import { describe, expect, it } from 'vitest';
import { closingLine, tally } from '../../../scripts/lib/closing-line.mjs';

const vitest = (passed: number, failed: number) =>
  JSON.stringify({ numPassedTests: passed, numFailedTests: failed });

describe('counting a test run', () => {
  it('reads both runners', () => {
    expect(tally('vitest', vitest(3, 0), 0)).toEqual({ passed: 3, failed: 0 });
    const stats = { expected: 2, flaky: 1, unexpected: 1 };
    expect(tally('playwright', JSON.stringify({ stats }), 1)).toEqual({ passed: 3, failed: 1 });
  });

  // A file that does not even load, or a crash of the runner, names no failed test.
  it('counts a failure that names no test', () => {
    expect(tally('vitest', vitest(3, 0), 1)).toEqual({ passed: 3, failed: 1 });
    expect(tally('playwright', undefined, 1)).toEqual({ passed: 0, failed: 1 });
  });

  it('counts a run without tests as failed', () => {
    expect(tally('vitest', vitest(0, 0), 0)).toEqual({ passed: 0, failed: 1 });
  });
});

describe('the closing line', () => {
  it('adds up runners and failed checks', () => {
    const tallies = [
      { passed: 3, failed: 1 },
      { passed: 2, failed: 0 },
    ];
    expect(closingLine(tallies, 2)).toEqual({ line: '5 passed, 3 failed', ok: false });
    expect(closingLine([{ passed: 2, failed: 0 }], 0)).toEqual({ line: '2 passed, 0 failed', ok: true });
  });

  it('never calls an empty run a success', () => {
    expect(closingLine([], 0)).toEqual({ line: '0 passed, 1 failed', ok: false });
  });
});
