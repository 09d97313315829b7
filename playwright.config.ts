import { defineConfig } from '@playwright/test';

export default defineConfig({
  testDir: 'test/e2e',
  testMatch: '**/*.test.ts',
  globalSetup: './test/support/e2e-setup.ts',
  outputDir: 'test-results',
  // One screen and one tray: tests take turns. A test that needs a second try is a bug to be looked at.
  workers: 1,
  retries: 0,
  timeout: 60_000,
  expect: { timeout: 10_000 },
  forbidOnly: Boolean(process.env.CI),
  reporter: [['list'], ['json', { outputFile: '.cache/reports/e2e.json' }]],
});
