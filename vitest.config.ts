import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/{unit,integration,contract}/**/*.test.{ts,tsx}'],
    environment: 'node',
    // Real sockets and files on a busy two-core machine need more than the default.
    testTimeout: 40_000,
    hookTimeout: 40_000,
    maxWorkers: 2,
    restoreMocks: true,
    unstubEnvs: true,
  },
});
