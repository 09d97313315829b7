import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { translateRequest } from '../../../../../src/engine/proxy/translate/pairs.ts';
import type { JsonObject } from '../../../../../src/engine/proxy/translate/types.ts';
import { AppError } from '../../../../../src/shared/errors.ts';
import type { Dialect } from '../../../../../src/shared/model.ts';
import { options } from './support.ts';

/** One value of each key of an SDK's type; the compiler demands every key that a newer SDK brings. */
type Every<T> = { [K in keyof T]-?: unknown };

interface Case {
  /** Puts fields into the base where the type's place is. */
  place: (base: JsonObject, fields: JsonObject) => JsonObject;
  fields: JsonObject;
  /** Answered by the proxy itself, or by what every reply tells anyway. */
  ours: readonly string[];
  /** Names under which a refusal or the list may speak of a field. */
  prefix: string;
}

const schema = { type: 'object', properties: { q: { type: 'string' } } };
const closed = { ...schema, required: ['q'], additionalProperties: false };

const chatBase: JsonObject = {
  model: 'm',
  messages: [{ role: 'user', content: 'hi' }],
  tools: [{ type: 'function', function: { name: 'f', parameters: schema } }],
};
const chat: Every<OpenAI.ChatCompletionCreateParams> = {
  messages: [{ role: 'user', content: 'other' }],
  model: 'n',
  audio: { voice: 'alloy', format: 'mp3' },
  frequency_penalty: 0.5,
  function_call: { name: 'f' },
  functions: [{ name: 'g', parameters: schema }],
  logit_bias: { '50256': -100 },
  logprobs: true,
  max_completion_tokens: 77,
  max_tokens: 77,
  metadata: { run: '1' },
  modalities: ['text', 'audio'],
  moderation: { model: 'omni' },
  n: 2,
  parallel_tool_calls: false,
  prediction: { type: 'content', content: 'x' },
  presence_penalty: 0.5,
  prompt_cache_key: 'k',
  prompt_cache_options: { ttl: '1h' },
  prompt_cache_retention: '24h',
  reasoning_effort: 'high',
  response_format: { type: 'json_object' },
  safety_identifier: 's',
  seed: 0,
  service_tier: 'flex',
  stop: ['END'],
  store: true,
  stream: true,
  stream_options: { include_usage: true },
  temperature: 0.3,
  tool_choice: 'required',
  tools: [],
  top_logprobs: 3,
  top_p: 0.3,
  user: 'u',
  verbosity: 'low',
  web_search_options: { search_context_size: 'low' },
};

const anthropicBase: JsonObject = {
  model: 'm',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'hi' }],
  tools: [{ name: 'f', input_schema: schema }],
};
/** Newer models take no sampling settings, so the SDK's types have none; older models and clients do. */
const anthropic: Every<
  Omit<Anthropic.Beta.MessageCreateParamsNonStreaming & Anthropic.MessageCreateParamsNonStreaming, 'betas'>
> &
  Readonly<Record<'temperature' | 'top_k' | 'top_p', unknown>> = {
  max_tokens: 77,
  messages: [{ role: 'user', content: 'other' }],
  model: 'n',
  billing_policy: { mode: 'x' },
  cache_control: { type: 'ephemeral' },
  compaction: { enabled: true },
  container: 'c',
  context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] },
  diagnostics: { level: 'x' },
  fallback_credit_token: 't',
  fallbacks: [{ model: 'x' }],
  inference_geo: 'eu',
  mcp_servers: [{ type: 'url', url: 'https://h', name: 'n' }],
  metadata: { user_id: 'u' },
  output_config: { effort: 'low' },
  output_format: { type: 'json_schema', schema: closed },
  service_tier: 'standard_only',
  speed: 'fast',
  stop_sequences: ['END'],
  stream: true,
  system: 'S',
  temperature: 0.3,
  thinking: { type: 'enabled', budget_tokens: 9000 },
  thread: { id: 't' },
  tool_choice: { type: 'any' },
  tools: [],
  top_k: 4,
  top_p: 0.3,
  user_profile_id: 'p',
  workspace_id: 'w',
};

const responsesBase: JsonObject = {
  model: 'm',
  input: 'hi',
  tools: [{ type: 'function', name: 'f', parameters: schema, strict: false }],
};
const responses: Every<OpenAI.Responses.ResponseCreateParams> = {
  access_programs: { x: true },
  background: true,
  background_options: { x: 1 },
  context_management: [{ type: 'compaction' }],
  conversation: 'c',
  image: { x: 1 },
  include: ['file_search_call.results'],
  input: 'other',
  instructions: 'S',
  max_output_tokens: 77,
  max_tool_calls: 3,
  metadata: { run: '1' },
  model: 'n',
  moderation: { model: 'omni' },
  parallel_tool_calls: false,
  previous_response_id: 'resp_1',
  prompt: { id: 'p' },
  prompt_cache_key: 'k',
  prompt_cache_options: { ttl: '1h' },
  prompt_cache_retention: '24h',
  reasoning: { effort: 'low' },
  safety_identifier: 's',
  service_tier: 'flex',
  store: false,
  stream: true,
  stream_options: { include_obfuscation: false },
  temperature: 0.3,
  text: { verbosity: 'low' },
  tool_choice: 'required',
  tools: [],
  top_logprobs: 3,
  top_p: 0.3,
  truncation: 'auto',
  user: 'u',
};

const top = (base: JsonObject, fields: JsonObject): JsonObject => ({ ...base, ...fields });
const inTool = (base: JsonObject, fields: JsonObject): JsonObject => ({
  ...base,
  tools: (base.tools as JsonObject[]).map((tool) => ({ ...tool, ...fields })),
});

const anthropicTool: Every<Anthropic.Beta.BetaTool> = {
  input_schema: closed,
  name: 'g',
  allowed_callers: ['code_execution_20260120'],
  cache_control: { type: 'ephemeral' },
  defer_loading: true,
  description: 'D',
  eager_input_streaming: true,
  input_examples: [{ q: 'x' }],
  strict: true,
  type: 'bash_20250124',
};
const responsesTool: Every<OpenAI.Responses.FunctionTool> = {
  name: 'g',
  parameters: closed,
  strict: true,
  type: 'file_search',
  allowed_callers: ['programmatic'],
  async: true,
  defer_loading: true,
  description: 'D',
  output_schema: { type: 'object', properties: {} },
};
const chatFunction: Every<OpenAI.FunctionDefinition> = {
  name: 'g',
  description: 'D',
  parameters: closed,
  strict: true,
};
const outputConfig: Every<Anthropic.Beta.BetaOutputConfig> = {
  effort: 'medium',
  format: { type: 'json_schema', schema: closed },
  task_budget: { type: 'tokens', total: 9 },
};
const textConfig: Every<OpenAI.Responses.ResponseTextConfig> = {
  format: { type: 'json_schema', name: 'o', schema: closed },
  verbosity: 'high',
};
const reasoning: Every<OpenAI.Reasoning> = {
  context: 'all_turns',
  effort: 'medium',
  generate_summary: 'auto',
  mode: 'pro',
  summary: 'auto',
};

const withBlock =
  (block: JsonObject) =>
  (base: JsonObject, fields: JsonObject): JsonObject => ({
    ...base,
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'look' },
          { ...block, ...fields },
        ],
      },
    ],
  });
const withItem =
  (part: JsonObject) =>
  (base: JsonObject, fields: JsonObject): JsonObject => ({
    ...base,
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'look' },
          { ...part, ...fields },
        ],
      },
    ],
  });
const RED_PDF = 'data:application/pdf;base64,aa';
const png = { type: 'base64', media_type: 'image/png', data: 'aa' };
const pdf = { type: 'base64', media_type: 'application/pdf', data: 'aa' };

const CASES: Readonly<Record<Dialect, Readonly<Record<string, Case>>>> = {
  openai: {
    'the request': { place: top, fields: chat, ours: ['model', 'stream_options'], prefix: '' },
    'a function': {
      place: (base, fields) => ({
        ...base,
        tools: [{ type: 'function', function: { name: 'f', parameters: schema, ...fields } }],
      }),
      fields: chatFunction,
      ours: [],
      prefix: 'tools.',
    },
    'a text part': {
      place: withBlock({ type: 'text', text: 'a' }),
      fields: {
        text: 'b',
        prompt_cache_breakpoint: { mode: 'explicit' },
      } satisfies Every<Omit<OpenAI.ChatCompletionContentPartText, 'type'>>,
      ours: [],
      prefix: 'messages.',
    },
    'an image part': {
      place: withBlock({ type: 'image_url', image_url: { url: 'https://h/a.png' } }),
      fields: {
        image_url: { url: 'https://h/b.png' },
        prompt_cache_breakpoint: { mode: 'explicit' },
      } satisfies Every<Omit<OpenAI.ChatCompletionContentPartImage, 'type'>>,
      ours: [],
      prefix: 'messages.',
    },
  },
  anthropic: {
    'the request': { place: top, fields: anthropic, ours: ['model'], prefix: '' },
    'a tool': { place: inTool, fields: anthropicTool, ours: [], prefix: 'tools.' },
    output_config: {
      place: (base, fields) => ({ ...base, output_config: fields }),
      fields: outputConfig,
      ours: [],
      prefix: 'output_config.',
    },
    'a text block': {
      place: withBlock({ type: 'text', text: 'a' }),
      fields: {
        text: 'b',
        cache_control: { type: 'ephemeral' },
        citations: [{ type: 'char_location' }],
      } satisfies Every<Omit<Anthropic.Beta.BetaTextBlockParam, 'type'>>,
      ours: [],
      prefix: 'messages.',
    },
    'an image block': {
      place: withBlock({ type: 'image', source: png }),
      fields: {
        source: { type: 'url', url: 'https://h/b.png' },
        cache_control: { type: 'ephemeral' },
        transformations: { crop: [0, 0, 1, 1] },
      } satisfies Every<Omit<Anthropic.Beta.BetaImageBlockParam, 'type'>>,
      ours: [],
      prefix: 'messages.',
    },
    'a document block': {
      place: withBlock({ type: 'document', source: pdf }),
      fields: {
        source: { type: 'text', media_type: 'text/plain', data: 'words' },
        cache_control: { type: 'ephemeral' },
        citations: { enabled: true },
        context: 'C',
        title: 'T',
      } satisfies Every<Omit<Anthropic.Beta.BetaRequestDocumentBlock, 'type'>>,
      ours: [],
      prefix: 'messages.',
    },
  },
  responses: {
    'the request': {
      place: top,
      fields: responses,
      // The model is the route's. The rest is kept and answered by the proxy's own store; the stream is never padded.
      ours: ['metadata', 'model', 'previous_response_id', 'store', 'stream_options'],
      prefix: '',
    },
    'a tool': { place: inTool, fields: responsesTool, ours: [], prefix: 'tools.' },
    'a namespace': {
      place: (base, fields) => {
        const tools = [{ type: 'function', name: 'f', parameters: schema }];
        return { ...base, tools: [{ type: 'namespace', name: 'n', tools, ...fields }] };
      },
      fields: {
        name: 'other',
        description: 'D',
        tools: [{ type: 'function', name: 'g', parameters: schema }],
      } satisfies Every<Omit<OpenAI.Responses.NamespaceTool, 'type'>>,
      ours: [],
      prefix: 'tools.namespace.',
    },
    text: {
      place: (base, fields) => ({ ...base, text: fields }),
      fields: textConfig,
      ours: [],
      prefix: 'text.',
    },
    reasoning: {
      place: (base, fields) => ({ ...base, reasoning: fields }),
      fields: reasoning,
      ours: ['summary', 'generate_summary'],
      prefix: 'reasoning.',
    },
    'an image part': {
      place: withItem({ type: 'input_image', image_url: 'https://h/a.png' }),
      fields: {
        detail: 'original',
        file_id: 'file_1',
        image_url: 'https://h/b.png',
        prompt_cache_breakpoint: { mode: 'explicit' },
      } satisfies Every<Omit<OpenAI.Responses.ResponseInputImage, 'type'>>,
      ours: ['file_id'],
      prefix: 'input.',
    },
    'a file part': {
      place: (base, { file_id, file_url, ...fields }) => {
        const source = { ...(file_id ? { file_id } : {}), ...(file_url ? { file_url } : {}) };
        const given = Object.keys(source).length > 0 ? source : { file_data: RED_PDF };
        return withItem({ type: 'input_file', ...given })(base, fields);
      },
      fields: {
        detail: 'low',
        file_data: 'data:application/pdf;base64,bb',
        file_id: 'file_1',
        file_url: 'https://h/a.pdf',
        filename: 'a.pdf',
        prompt_cache_breakpoint: { mode: 'explicit' },
      } satisfies Every<Omit<OpenAI.Responses.ResponseInputFile, 'type'>>,
      ours: [],
      prefix: 'input.',
    },
  },
};
const BASES: Readonly<Record<Dialect, JsonObject>> = {
  openai: chatBase,
  anthropic: anthropicBase,
  responses: responsesBase,
};
/** Where the words of one dialect are in another's list of what was dropped. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  prompt_cache_breakpoint: ['cache_control'],
  function_call: ['tool_choice'],
  modalities: ['audio'],
  audio: ['modalities'],
};

function outcome(client: Dialect, upstream: Dialect, body: JsonObject) {
  try {
    const { body: sent, dropped } = translateRequest(client, upstream, body, options());
    return { sent: JSON.stringify(sent), named: dropped };
  } catch (error) {
    if (!(error instanceof AppError) || error.field === undefined) throw error;
    return { sent: null, named: [error.field] };
  }
}

function isNamed(field: string, named: readonly string[], prefix: string): boolean {
  const words = [field, ...(ALIASES[field] ?? [])];
  return named.some((name) =>
    words.some((word) => new RegExp(`(?:^|[.\\]])${word}(?:$|[.[<>])`).test(name) || name === prefix + word),
  );
}

const PAIRS = (['openai', 'anthropic', 'responses'] as const).flatMap((client) =>
  (['openai', 'anthropic', 'responses'] as const)
    .filter((upstream) => upstream !== client)
    .map((upstream) => ({ client, upstream })),
);

describe.each(PAIRS)('$client client, $upstream upstream', ({ client, upstream }) => {
  it.each(
    Object.entries(CASES[client]).flatMap(([where, { fields, ours }]) =>
      Object.keys(fields)
        .filter((field) => !ours.includes(field))
        .map((field) => ({ where, field })),
    ),
  )('$field of $where is said upstream, listed as dropped, or refused by name', ({ where, field }) => {
    const { place, fields, prefix } = CASES[client][where] as Case;
    const base = BASES[client];
    const without = outcome(client, upstream, place(base, {}));
    const filled = outcome(client, upstream, place(base, { [field]: fields[field] }));
    const said = filled.sent !== null && filled.sent !== without.sent;
    if (!said) expect([filled.named, isNamed(field, filled.named, prefix)]).toEqual([filled.named, true]);
  });
});
