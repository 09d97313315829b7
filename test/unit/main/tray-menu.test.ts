import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isDarkPanel, type TrayItem, trayIconName, trayTemplate } from '../../../src/main/tray-menu.ts';
import { createTranslator, LOCALES } from '../../../src/shared/i18n/index.ts';
import type { Snapshot, StatusLevel } from '../../../src/shared/status.ts';

const now = Date.UTC(2026, 11, 1, 14, 45);
const t = createTranslator('en');
const facts = { now, hasProxyKey: false };

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
    provider: { configured: true, name: 'N', model: 'm', baseUrl: 'https://n.example', lastError: null },
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

const ids = (items: readonly TrayItem[]): string[] =>
  items.flatMap((item) =>
    item.kind === 'command' ? [item.id] : item.kind === 'submenu' ? ids(item.items) : [],
  );

// Would catch a line that is lost, or one that shows when there is nothing behind it.
test('the menu of a proxy that runs', () => {
  expect(ids(trayTemplate(snapshot(), t, facts))).toEqual([
    'status',
    'stop',
    'copy-openai',
    'copy-anthropic',
    'copy-key',
    'copy-curl',
    'bypass',
    'open',
    'skills',
    'memories',
    'activity',
    'demo',
    'settings',
    'quit',
  ]);
});

// Would catch a menu that offers to stop what is stopped, or addresses that nobody listens on.
test('a stopped proxy can be started, and has no addresses to copy', () => {
  const items = trayTemplate(snapshot({ proxy: { state: 'stopped' } }), t, facts);
  expect(ids(items)).toContain('start');
  expect(ids(items)).not.toContain('stop');
  expect(items.find((item) => item.kind === 'submenu')).toMatchObject({ enabled: false });
});

// Would catch proposals that wait without a word, and a review line that leads to an empty list.
test('what waits stands right under the status', () => {
  const items = trayTemplate(snapshot({ waiting: { proposals: 2 } }), t, facts);
  expect(items[1]).toMatchObject({ id: 'review', label: 'Review 2 proposals…' });
  const unset = snapshot({
    provider: { configured: false, name: '', model: '', baseUrl: '', lastError: null },
  });
  expect(ids(trayTemplate(unset, t, facts))[1]).toBe('setup');
});

// Would catch a menu whose width follows a long error of a provider.
test('a long second line is cut', () => {
  const items = trayTemplate(snapshot({ warnings: ['x'.repeat(500)] }), t, facts);
  const text = items.find((item) => item.kind === 'text');
  expect(text?.kind === 'text' && text.label.length).toBeLessThanOrEqual(80);
});

test('the key can be copied only where there is one', () => {
  const copyKey = (hasProxyKey: boolean) => {
    const menu = trayTemplate(snapshot(), t, { now, hasProxyKey }).find((item) => item.kind === 'submenu');
    return (
      menu?.kind === 'submenu' && menu.items.find((item) => item.kind === 'command' && item.id === 'copy-key')
    );
  };
  expect(copyKey(false)).toMatchObject({ enabled: false });
  expect(copyKey(true)).toMatchObject({ enabled: true });
});

test.each(LOCALES)('%s has a word for every line', (locale) => {
  const items = trayTemplate(snapshot({ waiting: { proposals: 3 } }), createTranslator(locale), facts);
  expect(JSON.stringify(items)).not.toMatch(/tray\.|\{\{/);
});

const levels: StatusLevel[] = [
  'stopped',
  'starting',
  'ready',
  'working',
  'learning',
  'attention',
  'paused',
  'error',
];

// Would catch a state without a picture: the tray would then show an empty square.
test.each(levels)('%s has a picture on every system', (level) => {
  const folder = join(import.meta.dirname, '../../../resources/tray');
  for (const platform of ['linux', 'darwin', 'win32']) {
    for (const dark of [true, false]) {
      const name = trayIconName(level, platform, dark);
      expect(existsSync(join(folder, name)), name).toBe(true);
      expect(existsSync(join(folder, name.replace('.png', '@2x.png'))), name).toBe(true);
    }
  }
});

// Would catch dark strokes on GNOME's dark panel while its windows are light.
test('the panel decides the tone of the picture', () => {
  expect(isDarkPanel('linux', 'ubuntu:GNOME', false)).toBe(true);
  expect(isDarkPanel('linux', 'KDE', false)).toBe(false);
  expect(isDarkPanel('linux', undefined, true)).toBe(true);
  expect(isDarkPanel('win32', undefined, true)).toBe(true);
});
