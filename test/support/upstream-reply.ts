/** One scripted answer of the test upstream and its rendering in each dialect, whole and as stream events. */

export type ReplyPart =
  | { type: 'text'; text: string }
  | { type: 'reasoning'; text: string; signature?: string }
  /** `arguments` is the exact string that goes out; Anthropic's whole form parses it. */
  | { type: 'tool'; id: string; name: string; arguments: string };

export interface ReplyUsage {
  /** All prompt tokens, cached ones included. */
  input: number;
  output: number;
  cacheRead?: number;
  cacheWrite?: number;
}

/** How the bytes of an answer travel. */
export interface ReplyWire {
  /** Line ending of the event stream; `mixed` takes turns. */
  eol?: '\n' | '\r\n' | '\r' | 'mixed';
  /** Cut the whole stream into packets of this many bytes, or at these offsets. */
  cut?: number | readonly number[];
  /** Wait before the response headers, before the first event, and between events or packets. */
  headersDelayMs?: number;
  firstDelayMs?: number;
  delayMs?: number;
  /** Comment lines (`: keep-alive`, `:`) between events. */
  comments?: boolean;
  /** `data:{…}` without the space, plus `id:` and `retry:` lines. */
  terse?: boolean;
  /** A byte order mark before the first event. */
  bom?: boolean;
  /** After so many events: go silent for good, end cleanly, reset the socket, or send this error event and end. */
  after?: number;
  ending?: 'stall' | 'close' | 'reset' | 'error';
  error?: { type: string; message: string };
  /** Compress the body with gzip and say so, whatever the caller accepts. */
  gzip?: boolean;
  /** Leave out `[DONE]` (OpenAI) or `message_stop` (Anthropic). */
  noEnd?: boolean;
  /** Bytes after the end of the stream. */
  trailer?: string;
  contentType?: string;
  /** Answer JSON to a streaming request, or a stream to a plain one. */
  form?: 'json' | 'stream';
}

/** A scripted answer. Strings are short for `{ text }`. */
export interface ScriptedReply {
  text?: string;
  reasoning?: string;
  tools?: { id: string; name: string; arguments: string }[];
  /** The same in any order; wins over the three above. */
  parts?: ReplyPart[];
  refusal?: string;
  /** Raw stop reason of the dialect; by default what the parts call for. */
  stop?: string | null;
  /** Anthropic's matched stop sequence. */
  stopSequence?: string;
  /** null: the answer carries no usage. */
  usage?: ReplyUsage | null;
  /** Model name in the answer; the requested one by default. */
  model?: string;
  /** Characters per delta, 5 by default; 0 sends each part in one delta. */
  chunk?: number;
  /** OpenAI: argument deltas of several calls take turns. */
  interleave?: boolean;
  /** OpenAI: `index` left out of tool call deltas. */
  omitIndex?: boolean;
  /** OpenAI: reasoning as `<think>` tags in the content instead of a field, or under another field name. */
  reasoningAs?: 'reasoning_content' | 'reasoning' | 'reasoning_text' | 'tags';
  /** Anthropic: a cumulative `message_delta` usage after every block. */
  repeatUsage?: boolean;
  /** Anthropic: ping events between others. */
  pings?: boolean;
  /** Fields added to the answer's top level (whole form) or to each chunk (OpenAI) or to message_start (Anthropic). */
  extra?: Record<string, unknown>;
  /** Events added before the end, e.g. of a kind that nobody knows. */
  extraEvents?: { event?: string; data: string }[];
  /** Headers of the answer. */
  headers?: Record<string, string>;
  wire?: ReplyWire;
}

/** A plain HTTP answer: errors, odd content types, anything. */
export interface RawReply {
  status: number;
  headers?: Record<string, string>;
  body?: string | Uint8Array | Record<string, unknown>;
  wire?: Pick<ReplyWire, 'headersDelayMs' | 'gzip'>;
}

export interface StreamEvent {
  event?: string;
  data: string;
}

const DEFAULT_USAGE: ReplyUsage = { input: 11, output: 7 };

/** The parts of a reply in order. */
export function partsOf(reply: ScriptedReply): ReplyPart[] {
  if (reply.parts) return reply.parts;
  const parts: ReplyPart[] = [];
  if (reply.reasoning !== undefined) parts.push({ type: 'reasoning', text: reply.reasoning });
  if (reply.text !== undefined) parts.push({ type: 'text', text: reply.text });
  for (const tool of reply.tools ?? []) parts.push({ type: 'tool', ...tool });
  return parts;
}

function pieces(text: string, size: number): string[] {
  if (size === 0 || text === '') return text === '' ? [] : [text];
  const points = [...text];
  const out: string[] = [];
  for (let at = 0; at < points.length; at += size) out.push(points.slice(at, at + size).join(''));
  return out;
}

function textOf(parts: ReplyPart[], type: 'text' | 'reasoning'): string {
  return parts.flatMap((part) => (part.type === type ? [part.text] : [])).join('');
}

function toolsOf(parts: ReplyPart[]) {
  return parts.flatMap((part) => (part.type === 'tool' ? [part] : []));
}

function openaiUsage(usage: ReplyUsage) {
  return {
    prompt_tokens: usage.input,
    completion_tokens: usage.output,
    total_tokens: usage.input + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead ?? 0 },
  };
}

function anthropicUsage(usage: ReplyUsage, output = usage.output) {
  const read = usage.cacheRead ?? 0;
  const write = usage.cacheWrite ?? 0;
  return {
    input_tokens: usage.input - read - write,
    cache_creation_input_tokens: write,
    cache_read_input_tokens: read,
    output_tokens: output,
  };
}

function openaiStop(reply: ScriptedReply, parts: ReplyPart[]): string | null {
  if (reply.stop !== undefined) return reply.stop;
  return toolsOf(parts).length > 0 ? 'tool_calls' : 'stop';
}

function anthropicStop(reply: ScriptedReply, parts: ReplyPart[]): string | null {
  if (reply.stop !== undefined) return reply.stop;
  if (reply.refusal !== undefined) return 'refusal';
  if (reply.stopSequence !== undefined) return 'stop_sequence';
  return toolsOf(parts).length > 0 ? 'tool_use' : 'end_turn';
}

/** The chat completion object. */
export function openaiWhole(reply: ScriptedReply, model: string): Record<string, unknown> {
  const parts = partsOf(reply);
  const tools = toolsOf(parts);
  const reasoning = textOf(parts, 'reasoning');
  const as = reply.reasoningAs ?? 'reasoning_content';
  let text = textOf(parts, 'text');
  if (reasoning && as === 'tags') text = `<think>${reasoning}</think>${text}`;
  const usage = reply.usage === undefined ? DEFAULT_USAGE : reply.usage;
  return {
    id: 'chatcmpl-scripted',
    object: 'chat.completion',
    created: 1_760_000_000,
    model: reply.model ?? model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text === '' && (tools.length > 0 || reply.refusal !== undefined) ? null : text,
          refusal: reply.refusal ?? null,
          ...(reasoning && as !== 'tags' ? { [as]: reasoning } : {}),
          ...(tools.length === 0
            ? {}
            : {
                tool_calls: tools.map((tool) => ({
                  id: tool.id,
                  type: 'function',
                  function: { name: tool.name, arguments: tool.arguments },
                })),
              }),
        },
        logprobs: null,
        finish_reason: openaiStop(reply, parts),
      },
    ],
    ...(usage === null ? {} : { usage: openaiUsage(usage) }),
    ...reply.extra,
  };
}

/** The chat completion as chunks; usage only when it was asked for, as the real service does. */
export function openaiEvents(reply: ScriptedReply, model: string, includeUsage: boolean): StreamEvent[] {
  const parts = partsOf(reply);
  const size = reply.chunk ?? 5;
  const usage = reply.usage === undefined ? DEFAULT_USAGE : reply.usage;
  const events: StreamEvent[] = [];
  const chunk = (delta: unknown, finish: string | null = null) =>
    events.push({
      data: JSON.stringify({
        id: 'chatcmpl-scripted',
        object: 'chat.completion.chunk',
        created: 1_760_000_000,
        model: reply.model ?? model,
        choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
        ...(includeUsage ? { usage: null } : {}),
        ...reply.extra,
      }),
    });
  chunk({ role: 'assistant', content: '' });
  const as = reply.reasoningAs ?? 'reasoning_content';
  const calls: unknown[][] = [];
  for (const part of parts) {
    if (part.type === 'reasoning') {
      if (as === 'tags')
        for (const piece of pieces(`<think>${part.text}</think>`, size)) chunk({ content: piece });
      else for (const piece of pieces(part.text, size)) chunk({ [as]: piece });
    } else if (part.type === 'text') {
      for (const piece of pieces(part.text, size)) chunk({ content: piece });
    } else {
      const index = reply.omitIndex ? {} : { index: calls.length };
      const head = { ...index, id: part.id, type: 'function' };
      const deltas =
        size === 0
          ? [{ ...head, function: { name: part.name, arguments: part.arguments } }]
          : [
              { ...head, function: { name: part.name, arguments: '' } },
              ...pieces(part.arguments, size).map((piece) => ({ ...index, function: { arguments: piece } })),
            ];
      calls.push(deltas);
      if (!reply.interleave) for (const delta of deltas) chunk({ tool_calls: [delta] });
    }
  }
  if (reply.interleave)
    for (let at = 0; calls.some((deltas) => at < deltas.length); at += 1)
      for (const deltas of calls) if (at < deltas.length) chunk({ tool_calls: [deltas[at]] });
  if (reply.refusal !== undefined) for (const piece of pieces(reply.refusal, size)) chunk({ refusal: piece });
  events.push(...(reply.extraEvents ?? []));
  const stop = openaiStop(reply, parts);
  if (stop !== null) chunk({}, stop);
  if (includeUsage && usage !== null)
    events.push({
      data: JSON.stringify({
        id: 'chatcmpl-scripted',
        object: 'chat.completion.chunk',
        created: 1_760_000_000,
        model: reply.model ?? model,
        choices: [],
        usage: openaiUsage(usage),
      }),
    });
  if (!reply.wire?.noEnd) events.push({ data: '[DONE]' });
  return events;
}

function anthropicBlock(part: ReplyPart): Record<string, unknown> {
  if (part.type === 'text') return { type: 'text', text: part.text };
  if (part.type === 'reasoning')
    return { type: 'thinking', thinking: part.text, signature: part.signature ?? 'c2lnbmVk' };
  return { type: 'tool_use', id: part.id, name: part.name, input: JSON.parse(part.arguments || '{}') };
}

/** The message object. */
export function anthropicWhole(reply: ScriptedReply, model: string): Record<string, unknown> {
  const parts = partsOf(reply);
  const usage = reply.usage === undefined ? DEFAULT_USAGE : reply.usage;
  const content = parts.map(anthropicBlock);
  if (reply.refusal !== undefined) content.push({ type: 'text', text: reply.refusal });
  return {
    id: 'msg_scripted',
    type: 'message',
    role: 'assistant',
    model: reply.model ?? model,
    content,
    stop_reason: anthropicStop(reply, parts),
    stop_sequence: reply.stopSequence ?? null,
    ...(usage === null ? {} : { usage: anthropicUsage(usage) }),
    ...reply.extra,
  };
}

/** The message as stream events. */
export function anthropicEvents(reply: ScriptedReply, model: string): StreamEvent[] {
  const parts = [...partsOf(reply)];
  if (reply.refusal !== undefined) parts.push({ type: 'text', text: reply.refusal });
  const size = reply.chunk ?? 5;
  const usage = reply.usage === undefined ? DEFAULT_USAGE : (reply.usage ?? { input: 0, output: 0 });
  const events: StreamEvent[] = [];
  const push = (type: string, fields: Record<string, unknown>) =>
    events.push({ event: type, data: JSON.stringify({ type, ...fields }) });
  push('message_start', {
    message: {
      id: 'msg_scripted',
      type: 'message',
      role: 'assistant',
      model: reply.model ?? model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: anthropicUsage(usage, 1),
      ...reply.extra,
    },
  });
  if (reply.pings) push('ping', {});
  parts.forEach((part, index) => {
    const start =
      part.type === 'text'
        ? { type: 'text', text: '' }
        : part.type === 'reasoning'
          ? { type: 'thinking', thinking: '', signature: '' }
          : { type: 'tool_use', id: part.id, name: part.name, input: {} };
    push('content_block_start', { index, content_block: start });
    const body = part.type === 'tool' ? part.arguments : part.text;
    for (const piece of pieces(body, size)) {
      const delta =
        part.type === 'text'
          ? { type: 'text_delta', text: piece }
          : part.type === 'reasoning'
            ? { type: 'thinking_delta', thinking: piece }
            : { type: 'input_json_delta', partial_json: piece };
      push('content_block_delta', { index, delta });
      if (reply.pings) push('ping', {});
    }
    if (part.type === 'reasoning')
      push('content_block_delta', {
        index,
        delta: { type: 'signature_delta', signature: part.signature ?? 'c2lnbmVk' },
      });
    push('content_block_stop', { index });
    if (reply.repeatUsage)
      push('message_delta', {
        delta: { stop_reason: null, stop_sequence: null },
        usage: { output_tokens: Math.ceil((usage.output * (index + 1)) / parts.length) },
      });
  });
  events.push(...(reply.extraEvents ?? []));
  push('message_delta', {
    delta: { stop_reason: anthropicStop(reply, parts), stop_sequence: reply.stopSequence ?? null },
    usage: { output_tokens: usage.output },
  });
  if (!reply.wire?.noEnd) push('message_stop', {});
  return events;
}

/** Event stream text of one event. */
export function frame(event: StreamEvent, wire: ReplyWire, n: number): string {
  const eol = wire.eol === 'mixed' ? (['\n', '\r\n', '\r'][n % 3] ?? '\n') : (wire.eol ?? '\n');
  const space = wire.terse ? '' : ' ';
  const lines: string[] = [];
  if (wire.comments) lines.push(': keep-alive', ':');
  if (wire.terse) lines.push(`id:${n}`, 'retry:3000');
  if (event.event) lines.push(`event:${space}${event.event}`);
  for (const line of event.data.split('\n')) lines.push(`data:${space}${line}`);
  return lines.join(eol) + eol + eol;
}
