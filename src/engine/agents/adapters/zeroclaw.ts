import { join } from 'node:path';
import { type Adapter, type Place, section, text } from '../adapter.ts';

const SCHEMA = 3;

/** ZeroClaw 0.8: a provider of our name, and each agent that is there switched to it. */
export const zeroclaw: Adapter = {
  id: 'zeroclaw',
  binary: 'zeroclaw',
  folder: ({ home, env }) =>
    env.ZEROCLAW_CONFIG_DIR ?? env.ZEROCLAW_DATA_DIR ?? env.ZEROCLAW_WORKSPACE ?? join(home, '.zeroclaw'),
  files: (place: Place) => [{ path: join(zeroclaw.folder(place), 'config.toml'), format: 'toml' }],
  unsupported([values]) {
    const found = section(values).schema_version;
    if (found === SCHEMA || Object.keys(section(values)).length === 0) return null;
    return `Its settings have the form ${found === undefined ? 'of a version before 0.8' : String(found)}; form ${SCHEMA} is known.`;
  },
  changes([values], target) {
    const agents = Object.keys(section(section(values).agents));
    return [
      [
        ...(section(values).schema_version === undefined
          ? [{ path: ['schema_version'], value: SCHEMA }]
          : []),
        {
          path: ['providers', 'models', 'custom', 'metaclaw'],
          value: {
            uri: target.openai,
            model: target.model,
            api_key: target.key,
            wire_api: 'chat_completions',
          },
        },
        ...(agents.length === 0 ? ['default'] : agents).map((name) => ({
          path: ['agents', name, 'model_provider'],
          value: 'custom.metaclaw',
        })),
      ],
    ];
  },
  provider([values]) {
    const used = Object.values(section(section(values).agents)).map((agent) =>
      text(section(agent).model_provider),
    );
    return [...new Set(used.filter((name) => name !== null))].join(', ') || null;
  },
  notes: () => ['A running ZeroClaw takes it up with: zeroclaw service restart.'],
};
