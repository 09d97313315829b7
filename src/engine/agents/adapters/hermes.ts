import { join } from 'node:path';
import { type Adapter, section, text } from '../adapter.ts';

/** Hermes 0.21 keeps what answers it in the `model` section of `config.yaml`. */
export const hermes: Adapter = {
  id: 'hermes',
  binary: 'hermes',
  folder: ({ home, env }) => env.HERMES_HOME ?? join(home, '.hermes'),
  files: (place) => [{ path: join(hermes.folder(place), 'config.yaml'), format: 'yaml' }],
  unsupported: () => null,
  changes([values], target) {
    const model = {
      default: target.model,
      provider: 'custom',
      base_url: target.openai,
      api_key: target.key,
      api_mode: 'chat_completions',
      context_length: target.contextWindow,
    };
    const now = section(values).model;
    // Older files name the model alone, and an empty section is null.
    if (now === undefined || typeof now === 'string' || now === null)
      return [[{ path: ['model'], value: model }]];
    return [Object.entries(model).map(([name, value]) => ({ path: ['model', name], value }))];
  },
  provider([values]) {
    const { model } = section(values);
    return text(model) ?? text(section(model).base_url) ?? text(section(model).provider);
  },
  notes: () => [
    'New sessions go through MetaClaw; a running gateway takes it up with: hermes gateway restart.',
  ],
};
