import { join } from 'node:path';
import { type Adapter, section, text } from '../adapter.ts';

/** IronClaw 1.3 ("Reborn"). It takes no key in its file, so the address carries the proxy's. */
export const ironclaw: Adapter = {
  id: 'ironclaw',
  binary: 'ironclaw',
  folder: ({ home, env }) => env.IRONCLAW_REBORN_HOME ?? join(home, '.ironclaw', 'reborn'),
  files: (place) => [{ path: join(ironclaw.folder(place), 'config.toml'), format: 'toml' }],
  unsupported: () => null,
  changes([values], target) {
    const model = {
      provider_id: 'openai_compatible',
      base_url: target.openaiWithKey,
      model: target.model,
    };
    const now = section(section(values).llm).default;
    if (now === undefined) return [[{ path: ['llm', 'default'], value: model }]];
    return [
      [
        ...Object.entries(model).map(([name, value]) => ({ path: ['llm', 'default', name], value })),
        // It names the variable with the former provider's key, which is nobody's business here.
        ...(section(now).api_key_env === undefined
          ? []
          : [{ path: ['llm', 'default', 'api_key_env'], value: undefined }]),
      ],
    ];
  },
  provider([values]) {
    const model = section(section(section(values).llm).default);
    return text(model.base_url) ?? text(model.provider_id);
  },
  notes: () => [
    'It reads its settings at its start only. A service takes them up with: ironclaw service restart.',
  ],
};
