import type { Call, ProviderTest, RouteInput } from '../shared/contract.ts';
import type { Mode } from '../shared/model.ts';

/** The flags of `metaclaw setup`. */
export interface SetupOptions {
  yes?: boolean;
  provider?: string;
  apiBase?: string;
  model?: string;
  apiKeyEnv?: string;
  port?: number;
  mode?: Mode;
  /** False with `--no-test`. */
  test: boolean;
}

/** What setup is about to save. */
export interface ProviderAnswers {
  provider: string;
  baseUrl: string;
  model: string;
  wire: NonNullable<RouteInput<'setup.saveProvider'>['wire']>;
  /** Absent: the stored key stays. */
  apiKey?: string;
}

/** What the config says of the provider now. */
export interface StoredProvider {
  isSet: boolean;
  provider: string;
  baseUrl: string;
  model: string;
  wire: ProviderAnswers['wire'];
  /** Whether a key is stored that a provider would be asked with, were it chosen. */
  hasKeyFor(provider: string): boolean;
}

export async function storedProvider(call: Call): Promise<StoredProvider> {
  const entry = (path: string) => call('config.get', { path });
  const [provider, baseUrl, model, wire, key, kept] = await Promise.all([
    entry('llm.provider'),
    entry('llm.api_base'),
    entry('llm.model_id'),
    entry('llm.wire'),
    entry('llm.api_key'),
    call('secrets.list', {}),
  ]);
  const isSet = !provider.isDefault || model.isSet || baseUrl.isSet;
  return {
    isSet,
    provider: String(provider.value),
    baseUrl: String(baseUrl.value),
    model: String(model.value),
    wire: wire.value as StoredProvider['wire'],
    hasKeyFor: (id) =>
      (key.isSet && (!isSet || provider.value === id)) || kept.names.includes(`auth.${id}.key`),
  };
}

/** The rows of a live test, one a line; a failed one with its remedy. */
export function describeTest(test: ProviderTest): string {
  const marks = { ok: 'ok', failed: 'FAILED', skipped: '-' } as const;
  return test.steps
    .map(({ id, state, detail, ms, fix }) => {
      const time = state === 'skipped' ? '' : ` (${Math.round(ms)} ms)`;
      return `${`${id.padEnd(10)}  ${marks[state].padEnd(6)}  ${detail}`.trimEnd()}${time}${fix === null ? '' : `\n${' '.repeat(20)}→ ${fix}`}`;
    })
    .join('\n');
}
