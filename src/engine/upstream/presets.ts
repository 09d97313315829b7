import type { ProviderPreset } from '../../shared/contract.ts';
import type { Dialect } from '../../shared/model.ts';

/** What a provider's OpenAI- or Anthropic-style wire does differently; issue-level facts, checked 2026-12. */
export interface Quirks {
  /** Knows the `developer` role. */
  developerRole: boolean;
  /** Which limit field the model takes. */
  maxTokensField: 'max_tokens' | 'max_completion_tokens';
  /** Longest answer that may be asked for, in tokens; null: unknown. */
  mostOutput: number | null;
  /** Takes system messages at all; else their words stand before the user's. */
  systemRole: boolean;
  /** Takes exactly one system message, first. */
  oneLeadingSystem: boolean;
  /** Takes `temperature` or `top_p`, not both. */
  oneSampling: boolean;
  /** Takes text only. */
  textOnly: boolean;
  /** Earlier reasoning: taken out, left as the client sent it, or demanded back as `reasoning_content`. */
  reasoning: 'drop' | 'keep' | 'reasoning_content';
  /** Where reasoning is demanded: takes an empty one for an answer whose reasoning nobody knows any more. */
  emptyReasoning: boolean;
  /** Values of `reasoning_effort` that it takes; null: unknown. */
  efforts: readonly string[] | null;
  /** How a Claude model is asked to think. */
  thinkingForm: 'budget' | 'adaptive';
  /** Another form is changed also where the client speaks the same wire. */
  rewriteThinking: boolean;
  /** Thinks in streams only: whole answers must be asked for without (`enable_thinking`). */
  wholeWithoutThinking: boolean;
  /** Demands the signatures of its tool calls back (`extra_content`). */
  callSignatures: boolean;
  /** Wants the reasoning blocks of its answers back unchanged (`reasoning_details`). */
  reasoningDetails: boolean;
  /** A limit under the other name is renamed also where the client speaks the same wire. */
  renameMaxTokens: boolean;
  /** Refuses members of messages and calls that OpenAI's wire does not have. */
  strictMessages: boolean;
  /** Words of JSON Schema that it refuses in the parameters of tools. */
  refusedSchemaWords: readonly string[];
  /** Top-level fields that it refuses. */
  refusedFields: readonly string[];
  /** Types of `response_format` that it refuses: the form is asked for in words instead (T44). */
  refusedFormats: readonly string[];
}

interface PresetRow extends ProviderPreset {
  quirks: Partial<Quirks>;
  /** Its hosts, regions included; null for servers of the user's own. */
  hosts: RegExp | null;
  /** Path of its endpoint on Anthropic's wire, where it has one. */
  anthropicPath: string | null;
}

type Row = [
  id: string,
  name: string,
  hint: string,
  baseUrl: string,
  suggestedModel: string,
  keyEnv: string | null,
  rest?: Partial<
    Pick<PresetRow, 'wire' | 'local' | 'program' | 'needsKey' | 'quirks' | 'hosts' | 'anthropicPath'>
  >,
];

const LOCAL = { local: true, needsKey: false } as const;
const PROGRAM_HINT = 'Answers with the sign-in of the program on this computer; text only, no tools';
const REPLAYS_REASONING = { reasoning: 'reasoning_content' } as const;

const ROWS: readonly Row[] = [
  [
    'openai',
    'OpenAI',
    'GPT models with a key of platform.openai.com',
    'https://api.openai.com/v1',
    'gpt-5.2',
    'OPENAI_API_KEY',
    { hosts: /^(?:\w+\.)?api\.openai\.com$/, quirks: { developerRole: true } },
  ],
  [
    'anthropic',
    'Anthropic',
    'Claude models with a key of platform.claude.com',
    'https://api.anthropic.com',
    'claude-sonnet-5',
    'ANTHROPIC_API_KEY',
    { wire: 'anthropic', hosts: /^api\.anthropic\.com$/ },
  ],
  [
    'openrouter',
    'OpenRouter',
    'Models of many vendors with one key',
    'https://openrouter.ai/api/v1',
    'openrouter/auto',
    'OPENROUTER_API_KEY',
    {
      hosts: /^openrouter\.ai$/,
      anthropicPath: '/api',
      quirks: { developerRole: true, reasoningDetails: true },
    },
  ],
  [
    'kimi',
    'Kimi',
    'Moonshot AI',
    'https://api.moonshot.ai/v1',
    'kimi-k2.5',
    'MOONSHOT_API_KEY',
    { hosts: /^api\.moonshot\.(?:ai|cn)$/, anthropicPath: '/anthropic', quirks: REPLAYS_REASONING },
  ],
  [
    'qwen',
    'Qwen',
    'Alibaba Cloud Model Studio',
    'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    'qwen3-max',
    'DASHSCOPE_API_KEY',
    { hosts: /^dashscope(?:-\w+)?\.aliyuncs\.com$/, anthropicPath: '/apps/anthropic' },
  ],
  [
    'deepseek',
    'DeepSeek',
    'DeepSeek platform',
    'https://api.deepseek.com/v1',
    'deepseek-flash',
    'DEEPSEEK_API_KEY',
    { hosts: /^api\.deepseek\.com$/, anthropicPath: '/anthropic', quirks: REPLAYS_REASONING },
  ],
  [
    'gemini',
    'Gemini',
    'Google AI Studio, its OpenAI-compatible endpoint',
    'https://generativelanguage.googleapis.com/v1beta/openai',
    'gemini-3.8-flash',
    'GEMINI_API_KEY',
    { hosts: /^generativelanguage\.googleapis\.com$/, quirks: { callSignatures: true } },
  ],
  [
    'minimax',
    'MiniMax',
    'MiniMax platform',
    'https://api.minimax.io/v1',
    'MiniMax-M2.5',
    'MINIMAX_API_KEY',
    {
      hosts: /^api\.minimaxi?\.(?:io|com|chat)$/,
      anthropicPath: '/anthropic',
      quirks: { oneLeadingSystem: true },
    },
  ],
  [
    'novita',
    'Novita AI',
    'Hosted open models',
    'https://api.novita.ai/openai/v1',
    'deepseek/deepseek-v3.2',
    'NOVITA_API_KEY',
    { hosts: /^api\.novita\.ai$/, anthropicPath: '/anthropic' },
  ],
  [
    'volcengine',
    'Volcengine',
    'Doubao models of Volcano Ark',
    'https://ark.cn-beijing.volces.com/api/v3',
    'doubao-seed-2-0',
    'ARK_API_KEY',
    { hosts: /^ark\.[\w-]+\.(?:volces|bytepluses)\.com$/ },
  ],
  [
    'bedrock',
    'Amazon Bedrock',
    'Its OpenAI-compatible endpoint with an API key',
    'https://bedrock-runtime.us-east-1.amazonaws.com/openai/v1',
    'openai.gpt-oss-120b-1:0',
    'AWS_BEARER_TOKEN_BEDROCK',
    { hosts: /^bedrock-runtime\.[\w-]+\.amazonaws\.com$/ },
  ],
  ['ollama', 'Ollama', 'Models on this computer', 'http://127.0.0.1:11434/v1', '', null, LOCAL],
  ['lmstudio', 'LM Studio', 'Models on this computer', 'http://127.0.0.1:1234/v1', '', null, LOCAL],
  ['llamacpp', 'llama.cpp', 'llama-server on this computer', 'http://127.0.0.1:8080/v1', '', null, LOCAL],
  [
    'vllm',
    'vLLM',
    'vLLM server on this computer or in your network',
    'http://127.0.0.1:8000/v1',
    '',
    null,
    LOCAL,
  ],
  ['claude-cli', 'Claude Code', PROGRAM_HINT, '', 'default', null, { ...LOCAL, program: 'claude' }],
  ['codex-cli', 'Codex', PROGRAM_HINT, '', 'default', null, { ...LOCAL, program: 'codex' }],
  ['gemini-cli', 'Gemini CLI', PROGRAM_HINT, '', 'default', null, { ...LOCAL, program: 'gemini' }],
  [
    'custom',
    'Another provider',
    'Any address that speaks OpenAI’s or Anthropic’s API',
    '',
    '',
    null,
    { needsKey: false },
  ],
];

const PRESETS: readonly PresetRow[] = ROWS.map(([id, name, hint, baseUrl, suggestedModel, keyEnv, rest]) => ({
  id,
  name,
  hint,
  baseUrl,
  hosts: null,
  anthropicPath: null,
  wire: 'openai',
  needsKey: true,
  local: false,
  program: null,
  suggestedModel,
  keyEnv,
  quirks: {},
  ...rest,
}));

/** Hosts whose Responses API is the real one. */
const HAS_RESPONSES: ReadonlySet<string> = new Set(['api.openai.com']);

/** Providers that the wizard offers, in its order. */
export function providerPresets(): ProviderPreset[] {
  return PRESETS.map(({ quirks: _, hosts: __, anthropicPath: ___, ...preset }) => preset);
}

/** The preset of an id, case-insensitive; `custom` for names that are not ours. */
export function presetOf(id: string): ProviderPreset {
  const key = id.trim().toLowerCase();
  const custom = PRESETS.at(-1) as PresetRow;
  return PRESETS.find((preset) => preset.id === key) ?? custom;
}

/** Quirks of a route: those of the preset, of the address when it belongs to another one, and of the model's name. */
export function quirksOf(provider: string, baseUrl: string, model: string): Quirks {
  const host = hostOf(baseUrl);
  const preset = ownerOf(host) ?? PRESETS.find((candidate) => candidate.id === provider.toLowerCase());
  const openai = isOpenai(host, model);
  // OpenAI's reasoning models refuse max_tokens; other hosts that serve a model of such a name know it (T36).
  const reasons = openai && REASONS_AT_OPENAI.test(model);
  return {
    developerRole: openai,
    mostOutput: null,
    systemRole: true,
    oneLeadingSystem: false,
    oneSampling: false,
    textOnly: false,
    efforts: null,
    thinkingForm: takesBudget(model) ? 'budget' : 'adaptive',
    rewriteThinking: false,
    wholeWithoutThinking: false,
    callSignatures: false,
    reasoningDetails: false,
    reasoning: reasoningOf(host, model),
    emptyReasoning: true,
    strictMessages: STRICT.test(host),
    refusedSchemaWords: [],
    refusedFields: [],
    refusedFormats: [],
    ...preset?.quirks,
    maxTokensField: reasons ? 'max_completion_tokens' : 'max_tokens',
    renameMaxTokens: reasons,
  };
}

/** The preset that an address belongs to, whatever its label. */
function ownerOf(host: string): PresetRow | undefined {
  return PRESETS.find((preset) => preset.hosts?.test(host));
}

const REASONS_AT_OPENAI = /^(?:ft:)?(?:o\d|gpt-(?:[5-9]|\d\d)|codex-)/i;

function isOpenai(host: string, model: string): boolean {
  if (/^(?:\w+\.)?api\.openai\.com$|\.openai\.azure\.com$/.test(host)) return true;
  // Azure's other hosts serve models of many vendors.
  return (
    /\.(?:services\.ai|cognitiveservices)\.azure\.com$/.test(host) &&
    /^(?:gpt-(?!oss)|o\d|codex-)/i.test(model)
  );
}

/** Claude models up to 4.5 think within a budget; the later ones decide by themselves and refuse one. */
function takesBudget(model: string): boolean {
  const [, family = '', major, minor = '0'] =
    /claude-(opus|sonnet|haiku|fable|mythos)-(?:(\d+)(?:[.-](\d{1,2}))?(?!\d)|preview)/i.exec(model) ?? [];
  if (family === '') return true;
  return major !== undefined && Number(major) + Number(minor) / 100 < 4.06;
}

/** A list with another's members put in, each once. */
export function withoutRepeats(a: readonly string[] = [], b: readonly string[] = []): string[] {
  return [...new Set([...a, ...b])];
}

const STRICT =
  /(?:^|\.)(?:openai\.com|openai\.azure\.com|groq\.com|mistral\.ai|cerebras\.ai|amazonaws\.com)$/;
/** Hosts that refuse or ignore reasoning in messages, whatever model they serve. */
const KNOWS_NO_REASONING =
  /(?:^|\.)(?:openai\.com|openai\.azure\.com|groq\.com|mistral\.ai|cerebras\.ai|googleapis\.com|amazonaws\.com)$/;
const DEMANDS_REASONING = /(?:^|[/:])(?:deepseek|kimi|moonshot|mimo)/i;
/** Their chat templates use earlier reasoning when a client sends it. */
const USES_REASONING =
  /(?:^|[/:])(?:qwen|qwq|glm|minimax|gpt-oss|step|ernie|hunyuan|seed-oss|doubao|nemotron|intern)/i;

function reasoningOf(host: string, model: string): Quirks['reasoning'] {
  if (KNOWS_NO_REASONING.test(host)) return 'drop';
  if (/(?:^|\.)(?:deepseek\.com|moonshot\.(?:ai|cn)|kimi\.com|xiaomimimo\.com)$/.test(host))
    return 'reasoning_content';
  // A gateway speaks its own form to whatever vendor it asks.
  if (host === 'openrouter.ai') return 'keep';
  if (DEMANDS_REASONING.test(model)) return 'reasoning_content';
  return USES_REASONING.test(model) ? 'keep' : 'drop';
}

/**
 * The wire of an address: what the user said, else the preset's, else what the address looks like. Providers that have
 * both of OpenAI's wires answer a Responses client on its own.
 */
export function wireOf(
  wire: 'auto' | Dialect,
  provider: string,
  baseUrl: string,
  dialect: Dialect = 'openai',
): Dialect {
  if (wire !== 'auto') return wire;
  if (dialect === 'responses' && HAS_RESPONSES.has(hostOf(baseUrl))) return 'responses';
  if (/\/responses\/?$/i.test(pathOf(baseUrl))) return 'responses';
  if (baseUrl !== '' && looksAnthropic(baseUrl)) return 'anthropic';
  const preset = presetOf(provider);
  return preset.id !== 'custom' && (baseUrl === '' || hostOf(baseUrl) === hostOf(preset.baseUrl))
    ? preset.wire
    : 'openai';
}

function looksAnthropic(baseUrl: string): boolean {
  return (
    hostOf(baseUrl) === 'api.anthropic.com' ||
    /\/anthropic(?:\/|$)|\/messages(?:\/count_tokens)?\/?$/i.test(pathOf(baseUrl))
  );
}

/** An address's path as it was typed, be its scheme missing. */
function pathOf(baseUrl: string): string {
  return baseUrl
    .trim()
    .replace(/[?#].*$/, '')
    .replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
    .replace(/^[^/]*/, '');
}

/**
 * Where a known provider's endpoints are, for an address that names its host and no more than the beginning of the
 * path: people paste `https://api.deepseek.com` and `https://openrouter.ai/api`. Null: the path is the user's own.
 */
export function knownPath(host: string, path: string, wire: Dialect): string | null {
  const owner = ownerOf(host);
  if (!owner) return null;
  const own = owner.baseUrl === '' ? '' : new URL(owner.baseUrl).pathname.replace(/\/+$/, '');
  const whole = wire === 'anthropic' && owner.wire !== 'anthropic' ? owner.anthropicPath : own;
  if (whole === null || whole === path) return null;
  const bare = path.toLowerCase().replace(/\/v1$/, '');
  return bare === '' || whole.startsWith(`${bare}/`) || own === path.toLowerCase() ? whole : null;
}

function hostOf(url: string): string {
  try {
    return new URL(/^[a-z][a-z0-9+.-]*:\/\//i.test(url.trim()) ? url.trim() : `https://${url.trim()}`)
      .hostname;
  } catch {
    return '';
  }
}
