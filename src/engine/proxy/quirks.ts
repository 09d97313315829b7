import type { Quirks, Route } from '../upstream/index.ts';
import { decodeValue, member, type Skim } from './skim.ts';
import { appendSystem, type Splice, setMember } from './splice.ts';
import { asObject, asText, isObject } from './translate/json.ts';
import { contentText, isSystemRole, mergeLeadingSystem } from './translate/openai-messages.ts';
import { nearestEffort } from './translate/request-to-openai.ts';
import type { JsonObject } from './translate/types.ts';

/** A request's top-level members, whether they are read from its bytes or from a value. */
type Members = (name: string) => unknown;

/** What a provider's quirks make of a body's top level. */
export interface Adaptation {
  /** Members that go. */
  remove: string[];
  /** Members that get another value, or are new. */
  set: JsonObject;
  /** What the client is told of it. */
  told: string[];
  /** Words for the system part. */
  words: string | null;
}

const LIMITS = ['max_tokens', 'max_completion_tokens', 'max_output_tokens'];

/** What has to change at the top level of a body for its provider. */
export function adaptationOf(
  { quirks, options, wire }: Route,
  names: readonly string[],
  of: Members,
): Adaptation {
  const remove = names.filter((name) => quirks.refusedFields.includes(name));
  const told = [...remove];
  const set: JsonObject = {};
  let words: string | null = null;
  const format = quirks.refusedFormats.length > 0 ? of('response_format') : null;
  if (isObject(format) && quirks.refusedFormats.includes(asText(format.type))) {
    remove.push('response_format');
    told.push('response_format');
    words = formatWords(format);
  }
  const samples = (name: string) => names.includes(name) && !remove.includes(name);
  if (quirks.oneSampling && samples('temperature') && samples('top_p')) {
    remove.push('top_p');
    told.push('top_p');
  }
  const double =
    quirks.renameMaxTokens && names.includes('max_tokens') && names.includes('max_completion_tokens');
  if (double) {
    remove.push(quirks.maxTokensField === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens');
    set[quirks.maxTokensField] = of('max_completion_tokens');
  }
  for (const name of quirks.mostOutput === null ? [] : LIMITS) {
    const limit = of(name);
    if (quirks.mostOutput === null || typeof limit !== 'number' || limit <= quirks.mostOutput) continue;
    set[name] = quirks.mostOutput;
    told.push(`${name}>${quirks.mostOutput}`);
  }
  const tools = quirks.refusedSchemaWords.length > 0 ? of('tools') : null;
  if (Array.isArray(tools)) {
    const found = new Set<string>();
    set.tools = tools.map((tool: unknown) => withoutSchemaWords(tool, quirks.refusedSchemaWords, found));
    if (found.size === 0) delete set.tools;
    told.push(...[...found].map((word) => `tools.${word}`));
  }
  if (wire === 'openai') setEffort(quirks, of, { remove, set, told });
  if (wire === 'anthropic') setThinkingForm(quirks, of, { set, told });
  if (quirks.wholeWithoutThinking && of('stream') !== true) set.enable_thinking = false;
  Object.assign(set, mergedOptions(options, of));
  return { remove, set, told: [...new Set(told)], words };
}

/** A tool whose parameters lack some words of JSON Schema; names of properties are no such words. */
function withoutSchemaWords(tool: unknown, words: readonly string[], found: Set<string>): unknown {
  const clean = (schema: unknown, holdsNames: boolean): unknown => {
    if (Array.isArray(schema)) return schema.map((item: unknown) => clean(item, false));
    if (!isObject(schema)) return schema;
    const kept = Object.entries(schema).filter(([name]) => {
      const goes = !holdsNames && words.includes(name);
      if (goes) found.add(name);
      return !goes;
    });
    return Object.fromEntries(
      kept.map(([name, value]) => [name, clean(value, !holdsNames && NAME_MAPS.has(name))]),
    );
  };
  if (!isObject(tool) || !isObject(tool.function)) return tool;
  return { ...tool, function: { ...tool.function, parameters: clean(tool.function.parameters, false) } };
}

/** Members of a schema whose own members are names. */
const NAME_MAPS: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions', 'patternProperties']);

function setEffort(
  quirks: Quirks,
  of: Members,
  { remove, set, told }: Pick<Adaptation, 'remove' | 'set' | 'told'>,
): void {
  const effort = of('reasoning_effort');
  if (quirks.efforts === null || typeof effort !== 'string' || quirks.efforts.includes(effort)) return;
  const nearest = nearestEffort(effort, quirks.efforts);
  if (nearest === null) remove.push('reasoning_effort');
  else set.reasoning_effort = nearest;
  told.push(`reasoning_effort=${effort}`);
}

const BUDGET_OF_EFFORT: Readonly<Record<string, number>> = {
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 24_576,
  max: 32_768,
};
/** Anthropic takes no smaller one. */
const LEAST_BUDGET = 1024;

/** Claude models of one age want a budget, those of the next decide by themselves. */
function setThinkingForm(quirks: Quirks, of: Members, { set, told }: Pick<Adaptation, 'set' | 'told'>): void {
  const thinking = of('thinking');
  if (!quirks.rewriteThinking || !isObject(thinking)) return;
  const { type, budget_tokens, ...rest } = thinking;
  if (quirks.thinkingForm === 'adaptive' && type === 'enabled') {
    set.thinking = { ...rest, type: 'adaptive' };
    told.push('thinking.budget_tokens');
  }
  if (quirks.thinkingForm === 'budget' && type === 'adaptive') {
    const { effort } = asObject(of('output_config'));
    const room = Number(of('max_tokens')) - 1;
    const budget = Math.min(BUDGET_OF_EFFORT[asText(effort)] ?? 8192, room);
    set.thinking =
      budget >= LEAST_BUDGET ? { ...rest, type: 'enabled', budget_tokens: budget } : { type: 'disabled' };
    told.push('thinking.adaptive');
  }
}

/** The changes of a body that keeps its wire, but for the members that go: those are taken out with others. */
export function adaptationSplices(skim: Skim, { set, words, remove }: Adaptation): Splice[] {
  const kept = Object.entries(set).filter(([name]) => !remove.includes(name));
  return [
    ...kept.flatMap(([name, value]) => setMember(skim, name, JSON.stringify(value))),
    ...(words === null ? [] : appendSystem(skim, 'openai', words)),
  ];
}

/** The same for a translated body, which is changed. */
export function applyAdaptation(body: JsonObject, { remove, set, words }: Adaptation, quirks: Quirks): void {
  Object.assign(body, set);
  for (const name of remove) delete body[name];
  if (words !== null) {
    const messages = [{ role: 'system', content: words }, ...(body.messages as JsonObject[])];
    body.messages = quirks.oneLeadingSystem ? mergeLeadingSystem(messages) : messages;
  }
  if (!quirks.systemRole && Array.isArray(body.messages))
    body.messages = foldSystem(body.messages as JsonObject[]);
}

/** Reads a member of a body by its bytes. */
export function membersOf(skim: Skim): Members {
  return (name) => {
    const found = member(skim, name);
    return found ? decodeValue(skim, found.value) : undefined;
  };
}

/** System words before the first words of the user, for chat templates without a system role. */
export function foldSystem(messages: readonly JsonObject[]): JsonObject[] {
  const system = messages
    .filter((message) => isSystemRole(message.role))
    .map((message) => contentText(message.content));
  const rest = messages.filter((message) => !isSystemRole(message.role));
  const text = system.filter((words) => words !== '').join('\n\n');
  if (text === '') return rest;
  const at = rest.findIndex((message) => message.role === 'user');
  const first = rest[at];
  if (!first) return [{ role: 'user', content: text }, ...rest];
  const content = Array.isArray(first.content)
    ? [{ type: 'text', text }, ...first.content]
    : `${text}\n\n${asText(first.content)}`;
  return rest.map((message, index) => (index === at ? { ...message, content } : message));
}

function formatWords(format: JsonObject): string {
  const { schema } = asObject(format.json_schema);
  const plain = 'Answer with one JSON object and nothing else: no words around it, no code fence.';
  return schema === undefined ? plain : `${plain} It must fit this JSON schema: ${JSON.stringify(schema)}`;
}

/**
 * A body's members with the route's options put in. What the client says itself stands, but for the data policy:
 * what the user forbids no client may allow. Returns only the members that change.
 */
function mergedOptions(
  options: Readonly<Record<string, unknown>>,
  of: (name: string) => unknown,
): Record<string, unknown> {
  const changed: Record<string, unknown> = {};
  for (const [name, ours] of Object.entries(options)) {
    const theirs = of(name);
    if (theirs === undefined || theirs === null) changed[name] = ours;
    else if (isObject(theirs) && isObject(ours)) {
      const { data_collection } = ours;
      const merged = { ...ours, ...theirs, ...(data_collection === undefined ? {} : { data_collection }) };
      if (JSON.stringify(merged) !== JSON.stringify(theirs)) changed[name] = merged;
    }
  }
  return changed;
}
