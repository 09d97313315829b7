import { dirname, join } from 'node:path';
import { type Adapter, type Place, section, text } from '../adapter.ts';

const VERSION = 3;

/** PicoClaw 0.2.9 and later; a field that it does not know keeps it from starting, so nothing else is written. */
export const picoclaw: Adapter = {
  id: 'picoclaw',
  binary: 'picoclaw',
  folder: (place) => dirname(configPath(place)),
  files: (place) => [{ path: configPath(place), format: 'json' }],
  unsupported([values]) {
    const { version } = section(values);
    if (version === VERSION || Object.keys(section(values)).length === 0) return null;
    return `Its settings have version ${version === undefined ? 'none' : String(version)}; version ${VERSION} is known. Start PicoClaw once, so that it brings them up to date.`;
  },
  changes([values], target) {
    return [
      [
        ...(section(values).version === undefined ? [{ path: ['version'], value: VERSION }] : []),
        {
          path: ['model_list'],
          item: {
            model_name: 'metaclaw',
            provider: 'openai',
            model: target.model,
            api_base: target.openai,
            api_keys: [target.key],
            enabled: true,
            streaming: { enabled: true },
          },
        },
        { path: ['agents', 'defaults', 'model_name'], value: 'metaclaw' },
      ],
    ];
  },
  provider: ([values]) => text(section(section(section(values).agents).defaults).model_name),
  notes: () => ['A running gateway takes it up when it is started anew.'],
};

function configPath({ home, env }: Place): string {
  return env.PICOCLAW_CONFIG ?? join(env.PICOCLAW_HOME ?? join(home, '.picoclaw'), 'config.json');
}
