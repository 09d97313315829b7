import { join } from 'node:path';
import { type Adapter, section, text } from '../adapter.ts';

/** Codex takes providers of its own in `config.toml`. It is given no key: the address carries it. */
export const codex: Adapter = {
  id: 'codex',
  binary: 'codex',
  folder: ({ home, env }) => env.CODEX_HOME ?? join(home, '.codex'),
  files: (place) => [{ path: join(codex.folder(place), 'config.toml'), format: 'toml' }],
  unsupported: () => null,
  changes([values], target) {
    const profile = activeProfile(values);
    return [
      [
        { path: ['model_provider'], value: 'metaclaw' },
        ...(profile === null ? [] : [{ path: ['profiles', profile, 'model_provider'], value: 'metaclaw' }]),
        {
          path: ['model_providers', 'metaclaw'],
          value: { name: 'MetaClaw', base_url: target.openaiWithKey, wire_api: 'responses' },
        },
      ],
    ];
  },
  provider([values]) {
    const profile = activeProfile(values);
    return (
      (profile === null ? null : text(section(section(section(values).profiles)[profile]).model_provider)) ??
      text(section(values).model_provider)
    );
  },
  notes([values]) {
    const others = Object.entries(section(section(values).profiles))
      .filter(
        ([name, profile]) => name !== activeProfile(values) && text(section(profile).model_provider) !== null,
      )
      .map(([name]) => name);
    return [
      'Sessions that run already keep their provider; new ones go through MetaClaw.',
      ...(others.length === 0
        ? []
        : [`Profiles with a provider of their own stay as they are: ${others.join(', ')}.`]),
    ];
  },
};

/** The profile that is used without being named, where it has a provider of its own. */
function activeProfile(values: unknown): string | null {
  const name = text(section(values).profile);
  const own = name === null ? {} : section(section(section(values).profiles)[name]);
  return name !== null && text(own.model_provider) !== null ? name : null;
}
