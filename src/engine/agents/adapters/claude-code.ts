import { join } from 'node:path';
import { type Adapter, section, text } from '../adapter.ts';

/** Claude Code 2.x reads an `env` section of its settings; the model that the user chose stays. */
export const claudeCode: Adapter = {
  id: 'claude-code',
  binary: 'claude',
  folder: ({ home, env }) => env.CLAUDE_CONFIG_DIR ?? join(home, '.claude'),
  files: (place) => [{ path: join(claudeCode.folder(place), 'settings.json'), format: 'json' }],
  unsupported: () => null,
  changes(_values, target) {
    const key = target.passthrough ? [] : [{ path: ['env', 'ANTHROPIC_AUTH_TOKEN'], value: target.key }];
    return [[{ path: ['env', 'ANTHROPIC_BASE_URL'], value: target.anthropic }, ...key]];
  },
  provider: ([values]) => text(section(section(values).env).ANTHROPIC_BASE_URL),
  notes([values], { env }) {
    const own = section(section(values).env);
    return [
      'Sessions that run already keep their provider; new ones go through MetaClaw.',
      ...(text(own.ANTHROPIC_API_KEY) !== null || text(section(values).apiKeyHelper) !== null
        ? [
            'Its settings also name a key of Anthropic, which it may show to MetaClaw. MetaClaw does not keep it.',
          ]
        : []),
      ...(env.ANTHROPIC_BASE_URL === undefined
        ? []
        : [
            'ANTHROPIC_BASE_URL is set in this environment; a shell that sets it may go before the settings.',
          ]),
    ];
  },
};
