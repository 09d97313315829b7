import { afterEach, expect, it } from 'vitest';
import { startEngine, type TestEngine } from '../../support/engine.ts';

let lab: TestEngine;
afterEach(() => lab.close());

it('tells of a typo in the file with its place and the key that is meant, and of each thing once', async () => {
  lab = await startEngine({
    llm: { provider: 'custom', modle_id: 'm' },
    proxy: { port: 0, host: '0.0.0.0' },
  });
  const { warnings } = lab.engine.snapshot();
  expect(warnings).toEqual([
    expect.stringMatching(/^config\.yaml, line \d+, column \d+: llm\.modle_id .* Is llm\.model_id meant\?$/),
    expect.stringMatching(/^config\.yaml, line \d+, column \d+: proxy\.host is 0\.0\.0\.0/),
  ]);
});
