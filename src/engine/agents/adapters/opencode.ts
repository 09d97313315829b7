import { join } from 'node:path';
import { type Adapter, type Place, section, text } from '../adapter.ts';

/** opencode reads the first of these that it finds. */
const NAMES = ['opencode.jsonc', 'opencode.json', 'config.json'];

export const opencode: Adapter = {
  id: 'opencode',
  binary: 'opencode',
  folder: ({ home, env }) => join(env.XDG_CONFIG_HOME ?? join(home, '.config'), 'opencode'),
  files: (place) => [{ path: settingsPath(place), format: 'json' }],
  unsupported: () => null,
  changes([values], target) {
    const schema = section(values).$schema;
    return [
      [
        ...(schema === undefined ? [{ path: ['$schema'], value: 'https://opencode.ai/config.json' }] : []),
        {
          path: ['provider', 'metaclaw'],
          value: {
            npm: '@ai-sdk/openai-compatible',
            name: 'MetaClaw',
            options: { baseURL: target.openai, apiKey: target.key },
            models: {
              [target.model]: {
                name: target.model,
                limit: { context: target.contextWindow, output: target.maxTokens },
              },
            },
          },
        },
        { path: ['model'], value: `metaclaw/${target.model}` },
      ],
    ];
  },
  provider: ([values]) => text(section(values).model),
  notes([values], { env }) {
    const off = section(values).disabled_providers;
    return [
      'Sessions that run already keep their model; new ones go through MetaClaw.',
      ...(Array.isArray(off) && off.includes('metaclaw')
        ? ['disabled_providers names metaclaw: take it out.']
        : []),
      ...(env.OPENCODE_CONFIG_CONTENT === undefined
        ? []
        : ['OPENCODE_CONFIG_CONTENT is set in this environment and goes before the file.']),
    ];
  },
};

function settingsPath(place: Place): string {
  const named = place.env.OPENCODE_CONFIG;
  if (named !== undefined && named !== '') return named;
  const paths = NAMES.map((name) => join(opencode.folder(place), name));
  return paths.find((path) => place.exists(path)) ?? join(opencode.folder(place), 'opencode.json');
}
