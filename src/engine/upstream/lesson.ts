import { z } from 'zod';
import { type Complaint, complaintOf, gist, withoutQuotes } from './complaint.ts';
import { type Quirks, withoutRepeats } from './presets.ts';
import type { Route } from './route.ts';

type Json = Record<string, unknown>;

/** What refusals taught about one model at one host. */
export const lessonShape = z.object({
  developerRole: z.literal(false).optional(),
  systemRole: z.literal(false).optional(),
  maxTokensField: z.enum(['max_tokens', 'max_completion_tokens']).optional(),
  mostOutput: z.number().int().positive().optional(),
  oneLeadingSystem: z.literal(true).optional(),
  oneSampling: z.literal(true).optional(),
  reasoning: z.enum(['drop', 'reasoning_content']).optional(),
  emptyReasoning: z.literal(false).optional(),
  efforts: z.array(z.string()).optional(),
  thinkingForm: z.enum(['budget', 'adaptive']).optional(),
  wholeWithoutThinking: z.literal(true).optional(),
  strictMessages: z.literal(true).optional(),
  refusedSchemaWords: z.array(z.string()).optional(),
  refusedFields: z.array(z.string()).optional(),
  refusedFormats: z.array(z.string()).optional(),
});
export type Lesson = z.infer<typeof lessonShape>;

export interface Taught {
  lesson: Lesson;
  /** False: it holds for this request only, e.g. for two fields that do not go together. */
  lasting: boolean;
  /** What was complained of; the same again means that the lesson did not help. */
  gist: string;
}

/**
 * What a refusal teaches, or null. Only the provider's own error fields are read, and only what the request really
 * held can be meant; conversation that a provider quotes teaches nothing.
 */
export function lessonOf(
  route: Pick<Route, 'wire' | 'quirks'>,
  status: number,
  errorText: string,
  sentBody: Uint8Array,
): Taught | null {
  const complaint = complaintOf(errorText);
  const sent = complaint && parse(Buffer.from(sentBody).toString('utf8'));
  if (!complaint || !sent) return null;
  // A chat template that gives up is the server's failure by its status (llama.cpp), the request's by its words.
  if (status >= 500 && !/jinja|chat[ _]template|raise_exception/i.test(complaint.about)) return null;
  if (read(route, complaint, sent) === null) return null;
  const lesson = read(route, withoutQuotes(complaint, sent), sent);
  return lesson && { ...lesson, gist: gist(complaint) };
}

/** Quirks with what was learned put in. */
export function withLesson(quirks: Quirks, lesson: Lesson): Quirks {
  const { refusedFields, refusedFormats, refusedSchemaWords, ...rest } = lesson;
  const known = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  return {
    ...quirks,
    ...known,
    ...(lesson.maxTokensField ? { renameMaxTokens: true } : {}),
    ...(lesson.thinkingForm ? { rewriteThinking: true } : {}),
    refusedSchemaWords: withoutRepeats(quirks.refusedSchemaWords, refusedSchemaWords),
    refusedFields: withoutRepeats(quirks.refusedFields, refusedFields),
    refusedFormats: withoutRepeats(quirks.refusedFormats, refusedFormats),
  };
}

type Found = Omit<Taught, 'gist'> | null;

function read(route: Pick<Route, 'wire' | 'quirks'>, complaint: Complaint, sent: Json): Found {
  const { about } = complaint;
  const lesson =
    limitLesson(about, sent) ??
    thinkingLesson(about, sent) ??
    (route.wire === 'openai' ? chatLesson(route.quirks, complaint, sent) : null);
  if (lesson)
    return {
      lesson,
      lasting: !TOGETHER.test(about) || 'oneSampling' in lesson || 'maxTokensField' in lesson,
    };
  const fields = refusedFields(complaint, sent);
  return fields.length === 0 ? null : { lesson: { refusedFields: fields }, lasting: !TOGETHER.test(about) };
}

const UNKNOWN =
  /unknown|unrecogni[sz]ed|not recogni[sz]ed|unsupported|not supported|not permitted|not allowed|not available|unavailable|not enabled|not implemented|unexpected|extra (?:inputs|fields)|extra_forbidden|extraneous|additional propert|invalid (?:field|parameter|argument)|cannot find field|(?:does not|doesn't|do not) support|is not valid|deprecated|no longer|only the default|only \S+ is allowed/i;
const MISSING =
  /missing|must be (?:passed|provided|present|included|set|non-?empty)|required|must (?:include|contain|have)|empty/i;
/** What is refused is refused beside something else of this request. */
const TOGETHER =
  /combined with|together with|at the same time|in combination|(?:with|when) (?:using )?(?:tools?|function)\b|function calling with/i;

const LIMITS = ['max_tokens', 'max_completion_tokens', 'max_output_tokens'] as const;
const MOST =
  /(?:range of max\w*tokens (?:should be|is) \[\s*\d+\s*,|supports? at most|max\w*tokens: \d+ >|max\w*tokens[`'"]? must be less than or equal to|max\w*tokens[`'"]? (?:must not|cannot|can't) exceed|supported range is from \d+ \(inclusive\) to|exceeds the model limit of|value that is lower than|max\w*tokens[^.\d]{0,40}(?:at most|maximum (?:of|is)|<=|up to))\s*[`'"]?(\d+)/i;
const EXCLUSIVE = /\(exclusive\)|lower than/i;

/** The longest answer that the model gives. */
function limitLesson(about: string, sent: Json): Lesson | null {
  const field = LIMITS.find((name) => typeof sent[name] === 'number');
  const told = Number(MOST.exec(about.replace(/(\d),(?=\d{3}\b)/g, '$1'))?.[1]);
  if (!field || !Number.isInteger(told)) return null;
  const most = EXCLUSIVE.test(about) ? told - 1 : told;
  return most >= 16 && most < Number(sent[field]) ? { mostOutput: most } : null;
}

/** How Claude models want to be asked to think. */
function thinkingLesson(about: string, sent: Json): Lesson | null {
  const type = (sent.thinking as Json | null | undefined)?.type;
  if (
    type === 'enabled' &&
    /thinking\.type\.adaptive|budget_tokens.{0,60}(?:not supported|removed)/i.test(about)
  )
    return { thinkingForm: 'adaptive' };
  if (type === 'adaptive' && /adaptive/i.test(about) && (UNKNOWN.test(about) || /expected tags/i.test(about)))
    return { thinkingForm: 'budget' };
  if (
    'temperature' in sent &&
    'top_p' in sent &&
    /temperature.{0,12}top_p.{0,20}both|only one of.{0,20}temperature/i.test(about)
  )
    return { oneSampling: true };
  return null;
}

function chatLesson(quirks: Quirks, complaint: Complaint, sent: Json): Lesson | null {
  const { about } = complaint;
  const messages = (Array.isArray(sent.messages) ? sent.messages : []) as Json[];
  const format = (sent.response_format as Json | null | undefined)?.type;
  if (typeof format === 'string' && format !== 'text' && refusesFormat(about))
    return { refusedFormats: [format] };
  if ('max_tokens' in sent && /max_completion_tokens/.test(about))
    return { maxTokensField: 'max_completion_tokens' };
  if ('max_completion_tokens' in sent && /max_completion_tokens/.test(about) && UNKNOWN.test(about))
    return { maxTokensField: 'max_tokens' };
  return (
    schemaLesson(about, sent) ??
    (/tool_calls(?:\[|\.)\d.{0,4}extra_content/.test(about) && UNKNOWN.test(about)
      ? ({ strictMessages: true } as const)
      : null) ??
    effortLesson(complaint, sent) ??
    reasoningLesson(quirks, messages, about) ??
    roleLesson(quirks, messages, about) ??
    (sent.stream !== true && /enable_thinking must be set to false for non-streaming/i.test(about)
      ? { wholeWithoutThinking: true }
      : null)
  );
}

/** Google names each word of a tool's schema that it does not know, with its place. */
function schemaLesson(about: string, sent: Json): Lesson | null {
  if (!Array.isArray(sent.tools)) return null;
  const named = [...about.matchAll(/unknown name ["']([$\w]+)["'] at ["']tools\[\d/gi)].map(
    ([, word = '']) => word,
  );
  const words = [...new Set(named)].filter((word) => !SCHEMA_FRAME.has(word));
  return words.length > 0 ? { refusedSchemaWords: words } : null;
}

/** Without these a schema says nothing. */
const SCHEMA_FRAME = new Set(
  'type properties items required enum anyOf description name parameters function'.split(' '),
);

/** A form that is not known, as opposed to a schema or a prompt that does not keep to its rules. */
function refusesFormat(about: string): boolean {
  if (!/response[_ .]?(?:format|mime type)|json_schema|json_object|json mode|structured output/i.test(about))
    return false;
  if (
    /invalid schema|in context=|additional ?properties|\$ref|contain the word|missing|must be named|response_format.{0,20}name/i.test(
      about,
    )
  )
    return false;
  return UNKNOWN.test(about) || TOGETHER.test(about) || /must be|one of/i.test(about);
}

const EFFORT_WORDS = /\b(?:none|minimal|low|medium|high|xhigh|max|default)\b/gi;

function effortLesson({ about, param }: Complaint, sent: Json): Lesson | null {
  const effort = sent.reasoning_effort;
  if (typeof effort !== 'string') return null;
  if (param === 'reasoning_effort' || /reasoning[_ .]effort/i.test(about)) {
    const [, list = ''] =
      /(?:supported values|must be one of|should be one of|expected one of|one of|allowed values|valid values|must be)(.*)/is.exec(
        about,
      ) ?? [];
    const efforts = [...new Set(list.toLowerCase().match(EFFORT_WORDS) ?? [])];
    return efforts.length > 0 && !efforts.includes(effort) ? { efforts } : null;
  }
  // Ollama speaks of what the field is for.
  return /(?:does not|doesn't) support (?:thinking|reasoning)\b/i.test(about)
    ? { refusedFields: ['reasoning_effort'] }
    : null;
}

function reasoningLesson(quirks: Quirks, messages: readonly Json[], about: string): Lesson | null {
  if (
    !/reasoning_content|reasoning content|(?:messages?|assistant).{0,80}(?:reasoning|thinking)/i.test(about)
  )
    return null;
  const carries = messages.some((message) =>
    Object.keys(message).some((name) => name.startsWith('reasoning')),
  );
  const unwanted = UNKNOWN.test(about) || /please remove|should be removed|must not/i.test(about);
  if (carries && unwanted && !MISSING.test(about)) return { reasoning: 'drop' };
  if (!MISSING.test(about)) return null;
  if (quirks.reasoning !== 'reasoning_content') return { reasoning: 'reasoning_content' };
  return quirks.emptyReasoning && messages.some((message) => message.reasoning_content === '')
    ? { emptyReasoning: false }
    : null;
}

function roleLesson(quirks: Quirks, messages: readonly Json[], about: string): Lesson | null {
  const refuses = UNKNOWN.test(about) || /invalid|one of|only|must|expected|alternate/i.test(about);
  if (messages.some(({ role }) => role === 'developer') && refuses && /developer|\broles?\b/i.test(about))
    return { developerRole: false };
  const systems = messages.flatMap(({ role }, index) => (role === 'system' ? [index] : []));
  const speaksOfSystem =
    /system (?:message|role|prompt|instruction)|role.{0,12}system|chat setting \(2013\)|roles must alternate|only user and assistant roles/i.test(
      about,
    );
  if (
    systems.length === 0 ||
    !speaksOfSystem ||
    /too (?:long|large|many tokens)|context (?:length|window)/i.test(about)
  )
    return null;
  if (systems.some((index) => index > 0)) return quirks.oneLeadingSystem ? null : { oneLeadingSystem: true };
  return quirks.systemRole && refuses ? { systemRole: false } : null;
}

/** Fields that carry the request itself, or what its sender forbids: leaving one out would change what was asked. */
const ESSENTIAL = new Set(
  `model messages input system instructions tools tool_choice functions function_call stream n max_tokens
  max_completion_tokens max_output_tokens stop stop_sequences response_format text modalities previous_response_id
  conversation provider models inference_geo safety_settings guardrails moderation`.split(/\s+/),
);
/** Names that are words of plain English too: they must be marked as names. */
const PROSE = new Set(
  'user store metadata reasoning thinking prediction audio route plugins prompt include'.split(' '),
);
/** What follows names the fields that are taken. */
const ALLOWED =
  /(?<!not )(?<!un)\b(?:expected one of|must be one of|should be one of|(?:supported|allowed|valid|accepted|available|permitted) (?:values|parameters|params|options|fields|arguments|keys|names)|did you mean|instead of)\b.*$/is;
const NESTED = /\b(?:messages|input|tools|contents|function_declarations)(?:\[|\.)\d/i;
/** Words for a field that do not spell its name. */
const ALIASES: readonly [RegExp, readonly string[]][] = [
  [/\bpenalty is not (?:enabled|supported)/i, ['presence_penalty', 'frequency_penalty']],
  [/\blogprobs (?:is|are) not (?:enabled|supported)/i, ['logprobs', 'top_logprobs']],
];

/** Top-level fields that the provider does not take; empty when none of the request's is named as such. */
function refusedFields({ about, param }: Complaint, sent: Json): string[] {
  if (!UNKNOWN.test(about)) return [];
  const names = Object.keys(sent).filter((name) => !ESSENTIAL.has(name));
  const exact = param.replace(/^(?:body|\$|#)[./]/, '');
  if (names.includes(exact)) return [exact];
  const refused = about
    .split(/\n|(?<=[.;!?])\s+/)
    .map((sentence) => sentence.replace(ALLOWED, ''))
    .filter((sentence) => UNKNOWN.test(sentence) && !NESTED.test(sentence))
    .flatMap((sentence) => [
      ...names.filter((name) => isNamed(name, sentence)),
      ...ALIASES.flatMap(([words, fields]) =>
        words.test(sentence) ? fields.filter((field) => field in sent) : [],
      ),
    ]);
  return [...new Set(refused)];
}

/** True where a sentence names a field, in its own spelling or in camel case, and no part of it. */
function isNamed(name: string, sentence: string): boolean {
  const camel = name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  const spelt = `(?:${[...new Set([name, camel])].map((word) => word.replace(/[^\w]/g, '\\$&')).join('|')})`;
  const behind = '(?![\\w-])(?!\\.\\w)';
  if (!PROSE.has(name)) return new RegExp(`(?<![\\w.-])${spelt}${behind}`).test(sentence);
  return new RegExp(
    `['"\`\\[(]${spelt}['"\`\\])]|^\\s*${spelt}:|(?:parameter|argument|field|property|key|name|supplied|param)s?:? ${spelt}${behind}`,
    'i',
  ).test(sentence);
}

function parse(text: string): Json | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null;
  } catch {
    return null;
  }
}
