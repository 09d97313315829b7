import { z } from 'zod';
import type { Logger } from '../platform/logger.ts';
import type { Database } from '../store/database.ts';
import { readSetting, writeSetting } from '../store/settings.ts';
import type { Quirks } from './presets.ts';
import type { Route } from './route.ts';

type Json = Record<string, unknown>;

/** What refusals taught about one model at one host. */
const lessonShape = z.object({
  developerRole: z.literal(false).optional(),
  maxTokensField: z.enum(['max_tokens', 'max_completion_tokens']).optional(),
  oneLeadingSystem: z.literal(true).optional(),
  reasoning: z.enum(['drop', 'reasoning_content']).optional(),
  emptyReasoning: z.literal(false).optional(),
  refusedFields: z.array(z.string()).optional(),
  refusedFormats: z.array(z.string()).optional(),
});
export type Lesson = z.infer<typeof lessonShape>;

const storeShape = z.record(z.string(), lessonShape);
const KEY = 'upstream.quirks';
const MOST_MODELS = 300;

/** Fields that carry the request itself: leaving one out would change what was asked. */
const ESSENTIAL = new Set(
  `model messages input system instructions tools tool_choice functions function_call stream n max_tokens
  max_completion_tokens max_output_tokens stop stop_sequences response_format text modalities previous_response_id
  conversation`.split(/\s+/),
);
const UNKNOWN =
  /unknown|unrecognized|unrecognised|unsupported|not supported|not permitted|not allowed|unexpected|extra (?:inputs|fields)|additional propert|invalid (?:field|parameter|argument)|does not support|is not valid|only the default/i;
const MISSING =
  /missing|must be (?:passed|provided|present|included|set|non-?empty)|required|must (?:include|contain|have)|empty/i;

/** What the providers' 400s taught, by host and model, over restarts. */
export class LearnedQuirks {
  readonly #database: Database | null;
  readonly #log: Logger;
  #known: Record<string, Lesson> | null = null;

  constructor(database: Database | null, log: Logger) {
    this.#database = database;
    this.#log = log;
  }

  of(baseUrl: string, model: string): Lesson {
    return this.#all()[keyOf(baseUrl, model)] ?? {};
  }

  add(route: Pick<Route, 'baseUrl' | 'model'>, lesson: Lesson): void {
    const key = keyOf(route.baseUrl, route.model);
    const all = this.#all();
    const before = all[key] ?? {};
    const both = (a: string[] = [], b: string[] = []) => [...new Set([...a, ...b])];
    delete all[key];
    all[key] = {
      ...before,
      ...lesson,
      ...(lesson.refusedFields ? { refusedFields: both(before.refusedFields, lesson.refusedFields) } : {}),
      ...(lesson.refusedFormats
        ? { refusedFormats: both(before.refusedFormats, lesson.refusedFormats) }
        : {}),
    };
    for (const oldest of Object.keys(all).slice(0, -MOST_MODELS)) delete all[oldest];
    this.#log.info({ model: key, lesson }, 'a refusal taught what this provider does not take');
    if (!this.#database) return;
    try {
      writeSetting(this.#database, KEY, all);
    } catch (error) {
      this.#log.warn({ err: error }, 'what a refusal taught could not be kept');
    }
  }

  #all(): Record<string, Lesson> {
    this.#known ??= this.#database ? { ...readSetting(this.#database, KEY, storeShape, {}) } : {};
    return this.#known;
  }
}

/** Quirks with what was learned put in. */
export function withLesson(quirks: Quirks, lesson: Lesson): Quirks {
  const { refusedFields, refusedFormats, ...rest } = lesson;
  return {
    ...quirks,
    ...rest,
    ...(lesson.maxTokensField ? { renameMaxTokens: true } : {}),
    refusedFields: [...quirks.refusedFields, ...(refusedFields ?? [])],
    refusedFormats: [...quirks.refusedFormats, ...(refusedFormats ?? [])],
  };
}

/**
 * What a refused request (400 or 422) teaches, or null. Only the provider's own error fields are read, and only what
 * the request really held can be meant; conversation that a provider quotes teaches nothing.
 */
export function lessonOf(
  route: Pick<Route, 'wire' | 'quirks'>,
  errorText: string,
  sentBody: Uint8Array,
): Lesson | null {
  const complaint = complaintOf(errorText);
  const sent = parse(Buffer.from(sentBody).toString('utf8'));
  if (complaint === null || sent === null) return null;
  const { about } = complaint;
  if (route.wire === 'openai') {
    const messages = (Array.isArray(sent.messages) ? sent.messages : []) as Json[];
    const format = (sent.response_format as Json | null | undefined)?.type;
    if (
      typeof format === 'string' &&
      format !== 'text' &&
      /response[_ .]format|json_schema|json_object|structured output/i.test(about)
    )
      return { refusedFormats: [format] };
    if ('max_tokens' in sent && /max_completion_tokens/.test(about))
      return { maxTokensField: 'max_completion_tokens' };
    if ('max_completion_tokens' in sent && /max_completion_tokens/.test(about) && UNKNOWN.test(about))
      return { maxTokensField: 'max_tokens' };
    const reasoning = reasoningLesson(route.quirks, messages, about);
    if (reasoning !== null) return reasoning;
    if (messages.some((message) => message.role === 'developer') && /developer|\brole\b/i.test(about))
      return { developerRole: false };
    if (
      !route.quirks.oneLeadingSystem &&
      messages.some((message, index) => index > 0 && message.role === 'system') &&
      /system (?:message|role|prompt)|role.{0,10}system/i.test(about)
    )
      return { oneLeadingSystem: true };
  }
  const field = refusedField(complaint, sent);
  return field === null ? null : { refusedFields: [field] };
}

function reasoningLesson(quirks: Quirks, messages: readonly Json[], about: string): Lesson | null {
  if (
    !/reasoning_content|reasoning content|(?:messages?|assistant).{0,80}(?:reasoning|thinking)/i.test(about)
  )
    return null;
  const carries = messages.some((message) =>
    Object.keys(message).some((name) => name.startsWith('reasoning')),
  );
  if (carries && UNKNOWN.test(about) && !MISSING.test(about)) return { reasoning: 'drop' };
  if (!MISSING.test(about)) return null;
  if (quirks.reasoning !== 'reasoning_content') return { reasoning: 'reasoning_content' };
  return quirks.emptyReasoning && messages.some((message) => message.reasoning_content === '')
    ? { emptyReasoning: false }
    : null;
}

/** The top-level field that the provider does not take; null when none of the request's is named as such. */
function refusedField(complaint: { about: string; param: string }, sent: Json): string | null {
  const { about, param } = complaint;
  if (!UNKNOWN.test(about)) return null;
  const named = Object.keys(sent).filter((name) => !ESSENTIAL.has(name));
  if (named.includes(param)) return param;
  return (
    named.find((name) => new RegExp(`(?:^|['"\`:\\s.])${quoted(name)}(?:['"\`:,;\\s.]|$)`).test(about)) ??
    null
  );
}

function quoted(name: string): string {
  return name.replace(/[^\w]/g, '\\$&');
}

/** The error's own words and the parameter that it names, in the shapes of OpenAI, Anthropic and FastAPI. */
function complaintOf(text: string): { about: string; param: string } | null {
  const root = parse(text.slice(0, 20_000));
  if (root === null) return null;
  const inner = (typeof root.error === 'object' && root.error !== null ? root.error : root) as Json;
  if (Array.isArray(root.detail)) {
    const [first] = root.detail as Json[];
    const loc = Array.isArray(first?.loc) ? (first.loc as unknown[]).filter((part) => part !== 'body') : [];
    return { about: `${loc.join('.')}: ${String(first?.msg ?? '')}`, param: String(loc[0] ?? '') };
  }
  const words = [inner.message, root.error, root.detail, root.message].find(
    (value) => typeof value === 'string',
  );
  if (typeof words !== 'string') return null;
  const param = typeof inner.param === 'string' ? inner.param : '';
  const code = typeof inner.code === 'string' ? inner.code : '';
  return { about: `${param} ${code.replaceAll('_', ' ')} ${words}`, param };
}

function parse(text: string): Json | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null;
  } catch {
    return null;
  }
}

function keyOf(baseUrl: string, model: string): string {
  return `${new URL(baseUrl).host} ${model}`;
}
