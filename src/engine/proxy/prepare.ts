import type { IncomingHttpHeaders } from 'node:http';
import type { Dialect } from '../../shared/model.ts';
import type { InjectionPlan } from '../inject/index.ts';
import type { Route } from '../upstream/index.ts';
import type { Facts } from './facts.ts';
import { plainUpstreamHeaders, upstreamHeaders } from './headers.ts';
import { applyCut, type Cut } from './limits/index.ts';
import { adaptationOf, adaptationSplices, applyAdaptation, foldSystem, membersOf } from './quirks.ts';
import {
  attachReasoning,
  attachThinking,
  attachToMessages,
  lostThinking,
  type Recall,
  removeExtras,
  removeReasoning,
  sealedItems,
  type Wants,
} from './reasoning/attach.ts';
import { attachItems } from './reasoning/attach-items.ts';
import type { Echo } from './rename.ts';
import { decode, decodeValue, member, type Skim, type SkimMessage } from './skim.ts';
import {
  appendSystem,
  applySplices,
  prependMessage,
  removeFields,
  renameDeveloper,
  type Splice,
  setMember,
  setModel,
} from './splice.ts';
import { adaptAnthropicRequest } from './translate/anthropic-messages.ts';
import { adaptOpenaiRequest } from './translate/openai-messages.ts';
import { translateRequest } from './translate/pairs.ts';
import type { JsonObject, TranslateOptions, TranslationContext } from './translate/types.ts';

/** A request as it goes upstream. */
export interface PreparedRequest {
  path: string;
  headers: Record<string, string | string[]>;
  body: Buffer;
  /** Parameters that the other dialect has no words for. */
  dropped: string[];
  /** What the translation of the reply needs; null when both sides speak the same dialect. */
  context: TranslationContext | null;
  /** What the upstream's response repeats changed, as the client sent it; null when there is nothing. */
  echo: Echo | null;
}

export interface PrepareInput {
  skim: Skim;
  facts: Facts;
  route: Route;
  headers: IncomingHttpHeaders;
  /** With its question mark, or empty. */
  query: string;
  plan: InjectionPlan | null;
  /** Finds reasoning that the client dropped, on the route's wire; null: nothing is looked up. */
  recall: Recall | null;
  /** Messages that are left out. */
  cut: Cut | null;
  /** What a response must repeat of a Responses request. */
  echo?: JsonObject | null;
  /** Unique per turn. */
  replyId: string;
  nowMs: number;
}

const PATHS: Readonly<Record<Dialect, string>> = {
  openai: '/chat/completions',
  anthropic: '/messages',
  responses: '/responses',
};

/** Anthropic demands a limit; this one holds when an OpenAI client named none (T37). */
const DEFAULT_MAX_TOKENS = 8192;
/** A picture or file counts about this much, whatever its bytes. */
const OPAQUE_TOKENS = 1500;
/** How DeepSeek, Kimi and MiMo are asked to answer without thinking. */
const NO_THINKING = JSON.stringify({ type: 'disabled' });

/** Puts in what the plan says, takes out what is ours, and speaks the upstream's dialect. Throws NOT_TRANSLATABLE. */
export function prepareRequest(input: PrepareInput): PreparedRequest {
  const { skim, facts, route } = input;
  const same = route.wire === facts.dialect;
  const adaptation = same
    ? adaptationOf(
        route,
        skim.members.map(({ key }) => key),
        membersOf(skim),
      )
    : null;
  const splices = [...removeFields(skim, adaptation?.remove), ...injectionSplices(input)];
  if (!same) return translate(input, applySplices(skim, applyCut(skim, input.cut, splices)));
  if (route.model !== facts.model) splices.push(...setModel(skim, route.model));
  if (facts.dialect === 'openai' && !route.quirks.developerRole) splices.push(...renameDeveloper(skim));
  splices.push(...reasoningSplices(input));
  if (facts.dialect === 'openai') splices.push(...renameMaxTokens(skim, route));
  if (adaptation) splices.push(...adaptationSplices(skim, adaptation));
  const headers = upstreamHeaders(input.headers, route.passthrough);
  headers['accept-encoding'] = 'identity';
  const path = `${PATHS[route.wire]}${input.query}`;
  const edited = applySplices(skim, applyCut(skim, input.cut, splices));
  const body = adaptToQuirks(input, edited);
  const changed = facts.dialect === 'responses' && input.plan && input.plan.system !== null;
  const echo = changed ? { instructions: JSON.stringify(input.echo?.instructions ?? null) } : null;
  return { path, headers, body, dropped: adaptation?.told ?? [], context: null, echo };
}

/** Tokens of a prompt without counting them: four bytes each, pictures apart. */
export function promptTokens(skim: Skim): number {
  const text = skim.bytes.length - skim.opaqueBytes;
  return Math.ceil(text / 4) + (skim.opaqueBytes > 0 ? OPAQUE_TOKENS : 0);
}

function injectionSplices(input: PrepareInput): Splice[] {
  const { plan, skim, facts } = input;
  if (!plan) return [];
  const splices = plan.system === null ? [] : appendSystem(skim, facts.dialect, plan.system);
  for (const { index, text } of plan.messages) {
    const message = facts.conversation[index];
    if (message) splices.push(...prependMessage(skim, message, text, facts.dialect));
  }
  return splices;
}

/** The limit under the name that the model takes (T36). */
function renameMaxTokens(skim: Skim, { quirks }: Route): Splice[] {
  const { maxTokensField, renameMaxTokens: renames } = quirks;
  const other = maxTokensField === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens';
  const current = member(skim, other);
  if (!renames || !current || member(skim, maxTokensField)) return [];
  return [{ at: current.start, remove: other.length + 2, insert: JSON.stringify(maxTokensField) }];
}

/** Earlier reasoning as the route's upstream wants it: given back, taken out, or left as the client sent it. */
function reasoningSplices({ skim, facts, route, recall }: PrepareInput): Splice[] {
  if (facts.dialect === 'responses') return recall ? attachItems(skim, recall) : [];
  if (facts.dialect === 'anthropic') return recall ? attachThinking(skim, recall) : [];
  const { reasoning, emptyReasoning } = route.quirks;
  const dropped = [
    ...(reasoning === 'drop' ? removeReasoning(skim) : []),
    ...(route.quirks.strictMessages ? removeExtras(skim) : []),
  ];
  const wants = wantsOf(route);
  if (wants === null) return dropped;
  const { splices, missing } = attachReasoning(skim, recall ?? (() => null), wants);
  if (missing > 0 && !emptyReasoning) splices.push(...setMember(skim, 'thinking', NO_THINKING));
  return [...dropped, ...splices];
}

/** What a route's upstream wants back of earlier reasoning; null: nothing. */
function wantsOf({ quirks, model }: Route): Wants | null {
  const text = quirks.reasoning === 'reasoning_content';
  const details = quirks.reasoningDetails && quirks.reasoning !== 'drop';
  const demands = /gemini-(?:[3-9]|\d\d)/i.test(model) ? 'always' : 'known';
  const signatures = quirks.callSignatures ? demands : 'none';
  return text || details || signatures !== 'none' ? { text, details, signatures } : null;
}

/** Whether a chat message may hold blocks of Anthropic's wire; they stand in lists of blocks alone. */
function mixesBlocks(skim: Skim, { content }: SkimMessage): boolean {
  if (content?.kind !== 'array') return false;
  const bytes = skim.bytes.subarray(content.start, content.end);
  return bytes.includes('"tool_use"') || bytes.includes('"tool_result"');
}

/** Whether an answer may hold thinking without a signature; signed thinking alone is not looked into. */
function mayHoldUnsigned(skim: Skim, { role, content, start, end }: SkimMessage): boolean {
  if (role !== 'assistant' || content?.kind !== 'array') return false;
  const bytes = skim.bytes.subarray(start, end);
  if (!bytes.includes('"thinking"')) return false;
  return (
    !bytes.includes('"signature"') || bytes.includes('"signature":""') || bytes.includes('"signature": ""')
  );
}

/** Rare: thinking of another vendor in an Anthropic client's history. */
function withoutForeignThinking({ skim }: PrepareInput, body: Buffer): Buffer {
  if (!skim.messages.some((message) => mayHoldUnsigned(skim, message))) return body;
  const parsed = parseBody(body) as JsonObject;
  const adapted = adaptAnthropicRequest(parsed);
  return adapted === parsed ? body : Buffer.from(JSON.stringify(adapted));
}

/** Rare: a provider that takes one system message only, or a client that mixes the dialects' blocks. */
function adaptToQuirks(input: PrepareInput, body: Buffer): Buffer {
  const { skim, facts, route } = input;
  if (facts.dialect === 'anthropic') return withoutForeignThinking(input, body);
  if (facts.dialect !== 'openai') return body;
  const { developerRole, oneLeadingSystem, systemRole, reasoning } = route.quirks;
  if (!oneLeadingSystem && systemRole && !skim.messages.some((message) => mixesBlocks(skim, message)))
    return body;
  const parsed = parseBody(body) as JsonObject;
  const adapted = adaptOpenaiRequest(parsed, {
    developerRole,
    oneLeadingSystem,
    reasoning: reasoning === 'reasoning_content' ? reasoning : 'drop',
  });
  if (!systemRole && Array.isArray(adapted.messages))
    return Buffer.from(
      JSON.stringify({ ...adapted, messages: foldSystem(adapted.messages as JsonObject[]) }),
    );
  return adapted === parsed ? body : Buffer.from(JSON.stringify(adapted));
}

/** The body as a value, for the other wire. Throws BAD_INPUT. */
function parseBody(body: Buffer): unknown {
  return decode(body.toString('utf8').replace(/^\uFEFF/, ''));
}

function translate(input: PrepareInput, edited: Buffer): PreparedRequest {
  const { facts, route, recall } = input;
  const options: TranslateOptions = {
    model: route.model,
    replyId: input.replyId,
    createdAt: Math.floor(input.nowMs / 1000),
    maxTokensField: route.quirks.maxTokensField,
    thinkingForm: route.quirks.thinkingForm,
    ...(route.quirks.efforts ? { efforts: route.quirks.efforts } : {}),
    developerRole: route.quirks.developerRole,
    textOnly: route.quirks.textOnly,
    oneLeadingSystem: route.quirks.oneLeadingSystem,
    reasoning: route.quirks.reasoning === 'reasoning_content' ? 'reasoning_content' : 'drop',
    ...(recall && route.wire !== 'responses'
      ? { thinkingOf: (message: JsonObject) => lostThinking(message, recall) }
      : {}),
    ...(recall && route.wire === 'responses'
      ? { itemsOf: (message: JsonObject) => sealedItems(message, recall) }
      : {}),
    defaultMaxTokens: DEFAULT_MAX_TOKENS,
    wantUsage: true,
    estimatedInputTokens: promptTokens(input.skim),
    ...(input.echo ? { echo: input.echo } : {}),
  };
  const parsed: unknown = parseBody(edited);
  const translated = translateRequest(facts.dialect, route.wire, parsed, options);
  if (route.wire === 'openai') giveReasoningBack(translated.body, input);
  const adaptation = adaptationOf(route, Object.keys(translated.body), (name) => translated.body[name]);
  applyAdaptation(translated.body, adaptation, route.quirks);
  const headers = plainUpstreamHeaders(input.headers, route.wire, route.passthrough);
  headers['accept-encoding'] = 'identity';
  headers.accept = facts.stream ? 'text/event-stream' : 'application/json';
  return {
    path: PATHS[route.wire],
    headers,
    body: Buffer.from(JSON.stringify(translated.body)),
    dropped: [...new Set([...translated.dropped, ...adaptation.told])],
    context: translated.context,
    echo: null,
  };
}

function giveReasoningBack(body: JsonObject, { route, recall }: PrepareInput): void {
  const wants = wantsOf(route);
  if (wants === null || !Array.isArray(body.messages)) return;
  const missing = attachToMessages(body.messages, recall ?? (() => null), wants);
  if (missing === 0 || route.quirks.emptyReasoning) return;
  body.thinking = { type: 'disabled' };
  delete body.reasoning_effort;
}

/** Whether an OpenAI client asked for the usage chunk. */
export function asksUsage(skim: Skim): boolean {
  const options = member(skim, 'stream_options');
  if (options?.value.kind !== 'object') return false;
  return (decodeValue(skim, options.value) as { include_usage?: unknown }).include_usage === true;
}
