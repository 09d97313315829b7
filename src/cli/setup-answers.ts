import type { Call, ProviderTest, RouteInput } from '../shared/contract.ts';

/** The flags of `metaclaw setup`. */
export interface SetupOptions {
  yes?: boolean;
  provider?: string;
  apiBase?: string;
  model?: string;
  apiKeyEnv?: string;
  port?: number;
  mode?: 'skills_only' | 'rl' | 'madmax';
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
  hasKey: boolean;
}

export async function storedProvider(call: Call): Promise<StoredProvider> {
  const entry = (path: string) => call('config.get', { path });
  const [provider, baseUrl, model, wire, key] = await Promise.all([
    entry('llm.provider'),
    entry('llm.api_base'),
    entry('llm.model_id'),
    entry('llm.wire'),
    entry('llm.api_key'),
  ]);
  return {
    isSet: model.isSet || baseUrl.isSet,
    provider: String(provider.value),
    baseUrl: String(baseUrl.value),
    model: String(model.value),
    wire: wire.value as StoredProvider['wire'],
    hasKey: key.isSet,
  };
}

/** The rows of a live test, one a line; a failed one with its remedy. */
export function describeTest(test: ProviderTest): string {
  const marks = { ok: 'ok', failed: 'FAILED', skipped: '-' } as const;
  return test.steps
    .map(({ id, state, detail, ms, fix }) => {
      const time = state === 'skipped' ? '' : ` (${Math.round(ms)} ms)`;
      return `${id.padEnd(10)}  ${marks[state].padEnd(6)}  ${detail}${time}${fix === null ? '' : `\n${' '.repeat(20)}→ ${fix}`}`;
    })
    .join('\n');
}
