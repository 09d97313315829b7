import { defineConfig } from '@playwright/test';

/** Files that this platform cannot run: the desktop of the tests is there on Linux only, Windows has no signals. */
const elsewhere = [
  ...(process.platform === 'linux' ? [] : ['**/*.linux.test.ts']),
  ...(process.platform === 'win32' ? ['**/*.posix.test.ts'] : []),
];

export default defineConfig({
  testDir: 'test/e2e',
  testMatch: '**/*.test.ts',
  testIgnore: elsewhere,
  globalSetup: './test/support/e2e-setup.ts',
  outputDir: 'test-results',
  // One screen and one tray: tests take turns.
  workers: 1,
  // A test that needs a second try is a bug to be looked at: it fails here, and a build machine names it as flaky.
  retries: process.env.CI ? 1 : 0,
  timeout: 60_000,
  expect: { timeout: 10_000 },
  forbidOnly: Boolean(process.env.CI),
  reporter: [['list'], ['json', { outputFile: '.cache/reports/e2e.json' }]],
});
