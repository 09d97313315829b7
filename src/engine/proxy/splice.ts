import type { Dialect } from '../../shared/model.ts';
import type { SkimValue, Span } from '../platform/json-walker.ts';
import { member, type Skim, type SkimMember, type SkimMessage, skimBlocks, skimMembers } from './skim.ts';

/** One change of a body: `remove` bytes at `at` give way to `insert`. */
export interface Splice {
  at: number;
  remove: number;
  insert: string;
}

/** Fields of the original's protocol that are for the proxy and never for the provider. */
export const IDENTITY_FIELDS: readonly string[] = [
  'session_id',
  'turn_type',
  'session_done',
  'memory_scope',
  'user_id',
  'workspace_id',
];

/** Applies splices; without any, the very bytes that came in. */
export function applySplices(from: Skim, splices: readonly Splice[]): Buffer {
  if (splices.length === 0) return from.source;
  // At one place an insertion stands before what is removed there.
  const ordered = [...splices].sort((a, b) => a.at - b.at || a.remove - b.remove);
  const parts: Buffer[] = [];
  let at = 0;
  for (const splice of ordered) {
    parts.push(from.bytes.subarray(at, splice.at), Buffer.from(splice.insert));
    at = splice.at + splice.remove;
  }
  parts.push(from.bytes.subarray(at));
  return Buffer.concat(parts);
}

/** Sets the top-level `model`. */
export function setModel(from: Skim, model: string): Splice[] {
  return setMember(from, 'model', JSON.stringify(model));
}

/** Sets a top-level member to a JSON text. */
export function setMember(from: Skim, key: string, json: string): Splice[] {
  const current = member(from, key);
  if (!current) return [insertMember(from, `${JSON.stringify(key)}:${json}`)];
  return [replace(current.value, json)];
}

/** Takes the original's identity fields, and others by name, out of the top level. */
export function removeFields(from: Skim, others: readonly string[] = []): Splice[] {
  return removeMembers(from.members, (key) => IDENTITY_FIELDS.includes(key) || others.includes(key));
}

/** Takes members out of an object, with the commas that they leave. */
export function removeMembers(members: readonly SkimMember[], goes: (key: string) => boolean): Splice[] {
  const splices: Splice[] = [];
  let kept = false;
  for (const [index, current] of members.entries()) {
    if (!goes(current.key)) {
      kept = true;
      continue;
    }
    const before = members[index - 1];
    const after = members[index + 1];
    // Behind a kept member the comma before goes too; at the front the comma after.
    const start = kept && before ? before.end : current.start;
    const end = kept || !after ? current.end : after.start;
    splices.push({ at: start, remove: end - start, insert: '' });
  }
  return splices;
}

/** Puts `text` behind the client's own system part, a blank line between. */
export function appendSystem(from: Skim, dialect: Dialect, text: string): Splice[] {
  if (dialect === 'anthropic') {
    const system = member(from, 'system');
    if (!system) return [insertMember(from, `"system":${JSON.stringify(text)}`)];
    if (system.value.kind === 'string' || system.value.kind === 'array')
      return [appendText(from, system.value, text)];
    return [replace(system.value, JSON.stringify(text))];
  }
  const first = (dialect === 'responses' ? from.items : from.messages)[0];
  const instructions = member(from, 'instructions');
  if (dialect === 'responses' && instructions?.value.kind === 'string')
    return [appendText(from, instructions.value, text)];
  if (
    first &&
    isSystemRole(first.role) &&
    (first.content?.kind === 'string' || first.content?.kind === 'array')
  )
    return [appendText(from, first.content, text, dialect)];
  if (dialect === 'responses') return setMember(from, 'instructions', JSON.stringify(text));
  if (!first) return [];
  return [{ at: first.start, remove: 0, insert: `${JSON.stringify({ role: 'system', content: text })},` }];
}

/**
 * Puts `text` before the user's words of one message, behind any tool results in it.
 *
 * Clients spell one message now as a string and now as a list of blocks (OpenClaw and Claude Code do: the newest one is
 * a list, and a string in the next turn). Both get the same words in the same division, or the provider's cache would
 * be lost: on Anthropic's wire a block of its own, elsewhere the beginning of the text.
 */
export function prependMessage(from: Skim, message: SkimMessage, text: string, dialect?: Dialect): Splice[] {
  const { content } = message;
  if (content === null) return [];
  const block = textBlock(text, dialect);
  if (content.kind === 'string') {
    const empty = content.end - content.start === 2;
    if (dialect !== 'anthropic' || empty) return [insertAt(content.start + 1, inside(text))];
    return [insertAt(content.start, `[${block},{"type":"text","text":`), insertAt(content.end, '}]')];
  }
  if (content.kind !== 'array') return [];
  const blocks = skimBlocks(from, content);
  const behind = blocks.findLastIndex((candidate) => candidate.type === 'tool_result') + 1;
  const result = blocks[behind - 1];
  if (result) return [insertAt(result.end, `,${block}`)];
  const words = dialect === 'anthropic' ? null : firstText(from, blocks);
  if (words) return [insertAt(words.start + 1, inside(text))];
  return [insertAt(content.start + 1, blocks.length > 0 ? `${block},` : block)];
}

/** The text of the first block that has one. */
function firstText(from: Skim, blocks: readonly (Span & { type: string })[]): SkimValue | null {
  const block = blocks.find(({ type }) => type === 'text' || type === 'input_text');
  if (!block) return null;
  const text = skimMembers(from, block).find(({ key }) => key === 'text')?.value;
  return text?.kind === 'string' ? text : null;
}

/** Renames the `developer` role for providers that do not know it (case T05). */
export function renameDeveloper(from: Skim): Splice[] {
  return from.messages.flatMap((message) =>
    message.role === 'developer' && message.roleSpan ? [replace(message.roleSpan, '"system"')] : [],
  );
}

/** Roles that carry instructions rather than conversation. */
export function isSystemRole(role: string): boolean {
  return role === 'system' || role === 'developer';
}

function insertAt(at: number, insert: string): Splice {
  return { at, remove: 0, insert };
}

function replace(span: { start: number; end: number }, insert: string): Splice {
  return { at: span.start, remove: span.end - span.start, insert };
}

function insertMember(from: Skim, text: string): Splice {
  const kept = from.members.some((candidate) => !IDENTITY_FIELDS.includes(candidate.key));
  return { at: from.bodyStart, remove: 0, insert: kept ? `${text},` : text };
}

function appendText(from: Skim, value: SkimValue, text: string, dialect?: Dialect): Splice {
  const empty = value.end - value.start === 2;
  if (value.kind === 'string')
    return { at: value.end - 1, remove: 0, insert: inside(empty ? text : `\n\n${text}`) };
  const block = textBlock(text, dialect);
  const some = skimBlocks(from, value).length > 0;
  return { at: value.end - 1, remove: 0, insert: some ? `,${block}` : block };
}

function textBlock(text: string, dialect: Dialect | undefined): string {
  return JSON.stringify({ type: dialect === 'responses' ? 'input_text' : 'text', text });
}

/** JSON string content without its quotes. */
function inside(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
