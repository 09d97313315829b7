import { expect, test } from 'vitest';
import { createTranslator, LOCALES } from '../../../src/shared/i18n/index.ts';
import { describe as describeStatus, type Snapshot } from '../../../src/shared/status.ts';

const now = new Date(2026, 11, 1, 14, 45, 0).getTime();
const t = createTranslator('en');

function snapshot(change: Partial<Snapshot> = {}): Snapshot {
  return {
    version: '0.1.0',
    host: 'app',
    pid: 1,
    proxy: { state: 'running', host: '127.0.0.1', port: 30000, startedAt: new Date(now).toISOString() },
    mode: 'madmax',
    effectiveMode: 'skills_only',
    modeReason: null,
    bypass: false,
    privateMode: false,
    provider: {
      configured: true,
      name: 'Northwind',
      model: 'northwind-large',
      baseUrl: 'https://n.example',
      lastError: null,
    },
    today: { turns: 42, sessions: 7, addedTokens: 900, skillsPerTurn: 1.5 },
    activeTurns: [],
    waiting: { proposals: 0 },
    learning: { enabled: true, queued: 0, running: 0, lastError: null },
    memory: { enabled: true, pending: 0, lastError: null },
    usage: { cap: null },
    warnings: [],
    ...change,
  };
}
const provider = snapshot().provider;
const refused = {
  ...provider,
  lastError: { since: new Date(2026, 11, 1, 14, 41).toISOString(), status: 401, message: 'bad key' },
};
const busy = [{ agent: 'openclaw', startedAt: new Date(now - 3400).toISOString() }];

// Would catch a lower state hiding a higher one, and words that differ from the tray's table.
test.each<[string, Partial<Snapshot>, string, string]>([
  [
    'stopped hides a provider failure',
    { proxy: { state: 'stopped' }, provider: refused },
    'stopped',
    'Stopped. Agents get an error until you start it.',
  ],
  [
    'a failed proxy',
    { proxy: { state: 'failed', port: 30000, message: 'Port 30000 is used by node (812)', hint: null } },
    'error',
    'The proxy does not run: Port 30000 is used by node (812).',
  ],
  [
    'a refused key over proposals',
    { provider: refused, waiting: { proposals: 2 } },
    'error',
    'Northwind refuses the key since 14:41.',
  ],
  [
    'no provider',
    { provider: { ...provider, configured: false } },
    'attention',
    'No provider yet. Agents get an error until one is set up.',
  ],
  [
    'proposals over learning',
    { waiting: { proposals: 1 }, learning: { enabled: true, queued: 0, running: 1, lastError: null } },
    'attention',
    'Ready. 42 turns today, 1 proposal to review.',
  ],
  [
    'learning over bypass',
    { bypass: true, learning: { enabled: true, queued: 3, running: 2, lastError: null } },
    'learning',
    'Learning from 2 sessions.',
  ],
  [
    'bypass over starting',
    { bypass: true, proxy: { state: 'starting', port: 30000 } },
    'paused',
    'Bypass is on: turns pass through unchanged, nothing is learned.',
  ],
  ['starting', { proxy: { state: 'starting', port: 30000 } }, 'starting', 'Starting: opening port 30000.'],
  ['a running turn', { activeTurns: busy }, 'working', 'Answering OpenClaw, 3 s.'],
  [
    'a quick turn does not flicker',
    { activeTurns: [{ agent: 'openclaw', startedAt: new Date(now - 400).toISOString() }] },
    'ready',
    'Ready. 42 turns today.',
  ],
  [
    'no turns yet',
    { today: { turns: 0, sessions: 0, addedTokens: 0, skillsPerTurn: 0 } },
    'ready',
    'Ready. No turns yet today.',
  ],
])('%s', (_name, change, level, sentence) => {
  expect(describeStatus(snapshot(change), t, now)).toMatchObject({ level, sentence });
});

// Would catch a bypass that nobody sees because a proposal waits.
test('bypass shows beside a higher state', () => {
  const status = describeStatus(snapshot({ bypass: true, waiting: { proposals: 1 } }), t, now);
  expect(status.level).toBe('attention');
  expect(status.detail).toContain('Bypass is on');
});

// Would catch a missing text: i18next answers with the key itself.
test.each(LOCALES)('%s has every sentence', (locale) => {
  const translate = createTranslator(locale);
  for (const change of [
    {},
    { provider: refused },
    { activeTurns: busy },
    { waiting: { proposals: 3 } },
    { bypass: true },
  ]) {
    expect(describeStatus(snapshot(change), translate, now).sentence).not.toMatch(/status\.|\{\{/);
  }
});

// Would catch a cap that stops learning without a word, one that is told of while nothing waits for it, and news of it
// that hides what matters more.
test('the second line tells of a daily cap that holds, after warnings and while learning is on', () => {
  const until = new Date(2026, 11, 2).toISOString();
  const cap = { cap: { unit: 'usd', amount: 2 }, spent: 2.1, until, state: 'reached' } as const;
  const words = 'Learning has used up today’s $2.00. It goes on at midnight; agents get their answers.';
  const detail = (change: Partial<Snapshot>) =>
    describeStatus(snapshot({ usage: { cap }, ...change }), t, now).detail;
  expect(detail({})).toBe(words);
  expect(detail({ usage: { cap: { ...cap, state: 'open' } } })).toBeNull();
  expect(detail({ learning: { enabled: false, queued: 0, running: 0, lastError: null } })).toBeNull();
  expect(detail({ warnings: ['The disk is full.'] })).toBe('The disk is full.');
});

test('what training lacks is named with its key in every language', () => {
  for (const locale of LOCALES) {
    const words = createTranslator(locale);
    expect(words('status.training.off')).toContain('rl.enabled');
    expect(words('status.training.key')).toContain('rl.api_key');
    expect(words('status.training.model')).toContain('rl.model');
  }
});
