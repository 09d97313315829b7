import { type Quirks, quirksOf } from '../presets.ts';
import type { Route } from '../route.ts';
import { type ProgramId, programFor } from './programs.ts';

/** Addresses of programs: what no server can be reached at. */
const SCHEME = 'program:';

/** Parameters of a chat request that no program takes. */
const NOT_TAKEN = [
  'tools',
  'functions',
  'parallel_tool_calls',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'top_k',
  'min_p',
  'stop',
  'seed',
  'frequency_penalty',
  'presence_penalty',
  'repetition_penalty',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'reasoning_effort',
  'reasoning',
  'thinking',
  'verbosity',
  'prediction',
  'modalities',
  'audio',
  'web_search_options',
  'service_tier',
];

const QUIRKS: Partial<Quirks> = {
  developerRole: false,
  textOnly: true,
  reasoning: 'drop',
  renameMaxTokens: false,
  refusedFields: NOT_TAKEN,
  refusedFormats: ['json_schema', 'json_object'],
};

/** The address of the program that answers for a provider, in place of a server's; null when a server answers. */
export function programBase(
  provider: string,
  authMethod: string | undefined,
  givenBase: string,
): string | null {
  const program = programFor(provider, authMethod, givenBase);
  return program && `${SCHEME}${program}`;
}

/** The route to a program; null for the address of a server. `token` is empty or a stored sign-in token. */
export function programRoute(base: string, provider: string, model: string, token: string): Route | null {
  if (!base.startsWith(SCHEME)) return null;
  return {
    name: provider,
    baseUrl: base,
    host: '',
    program: base.slice(SCHEME.length) as ProgramId,
    wire: 'openai',
    model,
    apiKey: token,
    passthrough: false,
    headers: {},
    query: '',
    basic: null,
    options: {},
    quirks: { ...quirksOf('custom', '', model), ...QUIRKS },
  };
}
