import { join } from 'node:path';
import { AppError } from '../../../shared/errors.ts';
import { type Adapter, type Place, section, text } from '../adapter.ts';
import type { Json, ValueChange } from '../edit/format.ts';

/** Keys that let sessions be told apart, in the order in which versions came to know them. */
const COMPAT: readonly (Readonly<Record<string, boolean>> | null)[] = [
  { sendSessionAffinityHeaders: true, supportsPromptCacheKey: true },
  { supportsPromptCacheKey: true },
  null,
];

/**
 * OpenClaw writes its file itself (`openclaw config patch`), and its gateway takes up what changed without a restart.
 * A key that a version does not know makes its whole file invalid, so each patch is tried dry first.
 */
export const openclaw: Adapter = {
  id: 'openclaw',
  binary: 'openclaw',
  folder: ({ home, env }) => env.OPENCLAW_STATE_DIR ?? join(env.OPENCLAW_HOME ?? home, '.openclaw'),
  files: (place: Place) => [
    {
      path: place.env.OPENCLAW_CONFIG_PATH ?? join(openclaw.folder(place), 'openclaw.json'),
      format: 'json5',
    },
  ],
  unsupported: () => null,
  command: {
    words: (patch) => `openclaw config patch --stdin <<< '${JSON.stringify(patch)}'`,
    async refusal(patch, run) {
      const { code, stdout, stderr } = await run(
        ['config', 'patch', '--stdin', '--dry-run', '--json'],
        JSON.stringify(patch),
      );
      return code === 0 ? null : wordsOf(stdout, stderr);
    },
    // A file without its block of `meta` is taken for a damaged one, and the one before it brought back.
    restorable: (values) => section(values).meta !== undefined,
    async apply(patch, run) {
      const { code, stdout, stderr } = await run(['config', 'patch', '--stdin'], JSON.stringify(patch));
      if (code !== 0)
        throw new AppError('CONFLICT', `OpenClaw did not take its new settings: ${wordsOf(stdout, stderr)}`, {
          hint: 'Run openclaw config validate to see what it says.',
        });
    },
  },
  changes([values], target, attempt) {
    const compat = COMPAT[attempt];
    if (compat === undefined) return null;
    const model: Record<string, Json> = {
      id: target.model,
      name: target.model,
      input: ['text', 'image'],
      contextWindow: target.contextWindow,
      maxTokens: target.maxTokens,
      ...(compat === null ? {} : { compat }),
    };
    const { defaults } = section(section(values).agents) as { defaults?: unknown };
    const name = `metaclaw/${target.model}`;
    return [
      [
        {
          path: ['models', 'providers', 'metaclaw'],
          value: {
            api: 'openai-completions',
            baseUrl: target.openai,
            apiKey: target.key,
            models: [model],
          },
        },
        ...chosen(section(defaults), name),
      ],
    ];
  },
  provider([values]) {
    const { model } = section(section(section(values).agents).defaults) as { model?: unknown };
    return text(model) ?? text(section(model).primary);
  },
  notes([values], { env }) {
    const { agents, models } = section(values);
    const { list, defaults } = section(agents) as { list?: unknown; defaults?: unknown };
    const own = (Array.isArray(list) ? list : [])
      .filter((agent) => section(agent).model !== undefined)
      .map((agent) => text(section(agent).id))
      .filter((id) => id !== null);
    const former = section(section(section(models).providers).metaclaw);
    const sandbox = section(section(defaults).sandbox).mode;
    return [
      'A running gateway takes it up at once; comments in its file are lost, since OpenClaw writes it anew.',
      ...(own.length === 0 ? [] : [`Agents with a model of their own keep it: ${own.join(', ')}.`]),
      ...(text(former.baseUrl)?.includes('/a/openclaw') === false && sandbox === 'off'
        ? [
            'The original MetaClaw switched the sandbox off. Switch it on again: openclaw config unset agents.defaults.sandbox.mode',
          ]
        : []),
      ...(env.OPENCLAW_PROFILE === undefined
        ? []
        : ['OPENCLAW_PROFILE is set: other profiles stay as they are.']),
    ];
  },
};

/** The default model, in the form in which it stands; fallbacks stay, and where models are listed ours joins them. */
function chosen(defaults: Readonly<Record<string, unknown>>, name: string): ValueChange[] {
  const { model, models } = defaults;
  const listed = section(models);
  return [
    typeof model === 'object' && model !== null
      ? { path: ['agents', 'defaults', 'model', 'primary'], value: name }
      : {
          path: ['agents', 'defaults', 'model'],
          value: typeof model === 'string' ? name : { primary: name },
        },
    ...(Object.keys(listed).length === 0 || listed[name] !== undefined
      ? []
      : [{ path: ['agents', 'defaults', 'models', name], value: {} }]),
  ];
}

/** What the command says is wrong: its list of errors, or its last line. */
function wordsOf(stdout: string, stderr: string): string {
  try {
    const { errors = [] } = JSON.parse(stdout) as { errors?: { message?: string }[] };
    const said = errors.map(({ message }) => message ?? '').filter(Boolean);
    if (said.length > 0) return said.join('; ').slice(0, 500);
  } catch {
    // No JSON: its words are on the other stream.
  }
  return (stderr.trim() || stdout.trim()).split('\n').at(-1)?.slice(0, 500) ?? '';
}
