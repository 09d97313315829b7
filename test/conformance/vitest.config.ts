import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/conformance/**/*.test.ts'],
    environment: 'node',
    // Agents start slowly, and two at a time would only wait for each other.
    fileParallelism: false,
    // A client that hangs is ended by its own limit first.
    testTimeout: 300_000,
    hookTimeout: 900_000,
  },
});
