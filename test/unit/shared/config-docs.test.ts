import { expect, it } from 'vitest';
import { describeConfig } from '../../../src/shared/config-keys.ts';

/** `docs/configuration.md` is generated: run `npx vitest run config-docs -u` after a change of the schema. */
it('documents every key of the configuration as the schema has it', async () => {
  const keys = describeConfig();
  const sections = new Map<string, string[]>();
  for (const key of keys) {
    const section = key.path.includes('.') ? (key.path.split('.')[0] ?? '') : '';
    const marks = [
      key.secret ? 'secret' : '',
      key.restart ? 'after a restart' : '',
      key.legacy ? 'of the original' : '',
    ];
    const row = [
      `\`${key.path}\``,
      `\`${JSON.stringify(key.default ?? null)}\``,
      key.help,
      marks.filter(Boolean).join(', '),
    ];
    const rows = sections.get(section) ?? [];
    rows.push(`| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`);
    sections.set(section, rows);
  }
  const parts = [
    '# Settings',
    'In `~/.metaclaw/config.yaml`; `metaclaw config KEY VALUE` writes one key and keeps your comments. Every key can also be set for one run by an environment variable: `METACLAW_` and the key in capitals with `_` for dots, e.g. `METACLAW_PROXY_PORT=31000`. This page is generated from the schema.',
    'The sections `memory`, `rl`, `opd`, `scheduler` and `wechat` are read, checked and kept; what they steer comes with later versions.',
  ];
  for (const [section, rows] of sections) {
    if (section !== '') parts.push(`## ${section}`);
    parts.push(['| key | default | what it does | |', '| --- | --- | --- | --- |', ...rows].join('\n'));
  }
  await expect(`${parts.join('\n\n')}\n`).toMatchFileSnapshot('../../../docs/configuration.md');
});
