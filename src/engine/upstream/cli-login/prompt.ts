import { z } from 'zod';
import { AppError } from '../../../shared/errors.ts';

/** A conversation as a vendor's program takes it: instructions, and one text for its standard input. */
export interface ProgramPrompt {
  system: string;
  prompt: string;
  stream: boolean;
  /** Whether the stream ends with a usage chunk. */
  wantUsage: boolean;
}

/** Begins every prompt of ours; a request that holds it already came from a program that we run. */
const MARK = '<conversation from="metaclaw">';

const GUIDE = `The user's message holds a conversation between <conversation> tags, one <turn> for each message. \
Write the assistant's next turn: its text alone, without tags and without naming the role. <call> and the turns of \
the role "tool" are calls of tools and their results, made by the program that holds the conversation. You have no \
tools here.`;

const part = z.looseObject({ type: z.string(), text: z.string().optional(), refusal: z.string().optional() });
const call = z.looseObject({
  id: z.string().optional(),
  function: z.looseObject({ name: z.string(), arguments: z.unknown() }).optional(),
  custom: z.looseObject({ name: z.string(), input: z.unknown() }).optional(),
});
const message = z.looseObject({
  role: z.string(),
  content: z.union([z.string(), z.array(z.union([z.string(), part]))]).nullish(),
  refusal: z.string().nullish(),
  name: z.string().nullish(),
  tool_call_id: z.string().nullish(),
  tool_calls: z.array(call).nullish(),
  function_call: z.looseObject({ name: z.string(), arguments: z.unknown() }).nullish(),
});
type Message = z.output<typeof message>;

const request = z.looseObject({
  messages: z.array(message).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  n: z.number().nullish(),
  tool_choice: z.unknown().optional(),
  function_call: z.unknown().optional(),
});

/**
 * A chat completions request as one text: the leading system messages apart, every later message in order, calls and
 * their results as text. Throws BAD_INPUT for what is no such request and NOT_TRANSLATABLE for what a program cannot
 * be asked; `title` names it.
 */
export function programPrompt(body: Uint8Array, title: string): ProgramPrompt {
  const { messages, stream, stream_options, ...rest } = parse(body);
  if ((rest.n ?? 1) > 1) refuse(`${title} gives one answer at a time.`, 'n');
  refuseForcedCall(rest.tool_choice, title, 'tool_choice');
  refuseForcedCall(rest.function_call, title, 'function_call');
  const leading = messages.findIndex(({ role }) => !isSystem(role));
  const turns = leading < 0 ? [] : messages.slice(leading);
  const system = (leading < 0 ? messages : messages.slice(0, leading)).map((one, index) =>
    textOf(one, title, `messages.${index}`),
  );
  const told = turns.map((one, index) => turnOf(one, title, `messages.${leading + index}`));
  return {
    system: [...system, GUIDE].join('\n\n'),
    prompt: `${MARK}\n${told.join('\n')}\n</conversation>\n`,
    stream: stream === true,
    wantUsage: stream_options?.include_usage === true,
  };
}

function parse(body: Uint8Array): z.output<typeof request> {
  let json: unknown;
  try {
    json = JSON.parse(
      Buffer.from(body)
        .toString('utf8')
        .replace(/^\uFEFF/, ''),
    );
  } catch {
    throw new AppError('BAD_INPUT', 'The body is no JSON.');
  }
  const parsed = request.safeParse(json);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const field = issue?.path.join('.') || 'messages';
  throw new AppError('BAD_INPUT', `${field}: ${issue?.message ?? 'is not as expected'}`, { field });
}

function isSystem(role: string): boolean {
  return role === 'system' || role === 'developer';
}

function turnOf(one: Message, title: string, path: string): string {
  const text = textOf(one, title, path);
  const calls = [
    ...(one.tool_calls ?? []),
    ...(one.function_call ? [{ id: undefined, function: one.function_call, custom: undefined }] : []),
  ].map(({ id, function: fn, custom }) => {
    const name = fn?.name ?? custom?.name ?? '';
    const input = fn ? fn.arguments : custom?.input;
    const given = typeof input === 'string' ? input : JSON.stringify(input ?? {});
    return `<call${attribute('id', id)}${attribute('name', name)}>${harmless(given)}</call>`;
  });
  const role = isSystem(one.role) ? 'system' : one.role === 'function' ? 'tool' : one.role;
  const of = attribute('call', one.tool_call_id) + attribute('name', one.name);
  return `<turn${attribute('role', role)}${of}>\n${[harmless(text), ...calls].filter(Boolean).join('\n')}\n</turn>`;
}

function textOf({ content, refusal, role }: Message, title: string, path: string): string {
  const parts = typeof content === 'string' ? [content] : (content ?? []);
  const texts = parts.map((one, index) => {
    if (typeof one === 'string') return one;
    if (one.type === 'text' || one.type === 'input_text' || one.type === 'output_text') return one.text ?? '';
    if (one.type === 'refusal') return one.refusal ?? '';
    return refuse(
      `${title} on this computer takes text only; this message has a part of type ${one.type}.`,
      `${path}.content.${index}`,
    );
  });
  const text = [...texts, ...(refusal ? [refusal] : [])].join('\n');
  if (role === 'user' && texts.some((one) => one.trimStart().startsWith(MARK)))
    refuse(
      `${title} on this computer is itself set up to ask MetaClaw, so that the request would go round in a circle. Take MetaClaw’s address out of the settings of ${title}, or choose another provider.`,
      path,
    );
  return text;
}

function refuseForcedCall(choice: unknown, title: string, field: string): void {
  if (choice === undefined || choice === null || choice === 'auto' || choice === 'none') return;
  refuse(`${title} on this computer cannot be given tools, so that no call can be demanded.`, field);
}

function refuse(sentence: string, field: string): never {
  throw new AppError('NOT_TRANSLATABLE', sentence, { field });
}

function attribute(name: string, value: string | null | undefined): string {
  return value ? ` ${name}=${JSON.stringify(value)}` : '';
}

/** Text cannot end its turn or begin another one. */
function harmless(text: string): string {
  return text.replace(/<(?=\/?(?:turn|conversation|call)\b)/gi, '&lt;');
}
