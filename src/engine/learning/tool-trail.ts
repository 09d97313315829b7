import { redact } from '../platform/redact.ts';

/** One use of a tool, in the order in which the agent went. */
export interface ToolStep {
  /** Name and arguments, cut and redacted. */
  call: string;
  failed: boolean;
  /** The line that told of the failure, cut and redacted; empty when it worked. */
  error: string;
}

const MAX_BODY_CHARS = 4_000_000;
const CALL_CHARS = 160;
const ERROR_CHARS = 160;
const LOOKED_AT = 600;
const FAILURE =
  /^\s*(?:error|fatal|panic|traceback|exception|uncaught|failed)\b|\b\w*(?:Error|Exception):\s|\bexit(?:ed)?(?: with)?(?: code| status)?\s*[:=]?\s*[1-9]\d*\b|\bcommand not found\b|\bno such file or directory\b|\bpermission denied\b|\bE(?:NOENT|ACCES|CONNREFUSED|EXIST)\b|\b[1-9]\d* (?:tests? )?failed\b/im;
/** Test runners shout. */
const SHOUTED = /\bFAIL(?:ED)?\b/;

/**
 * What the agent's tools were asked since the user's last words, and whether that worked; out of a recorded request
 * in any dialect. Of results only the line of an error is taken: their text may come from anywhere. Empty for bodies
 * that cannot be read.
 */
export function toolTrail(body: string | null): ToolStep[] {
  if (body === null || body.length > MAX_BODY_CHARS) return [];
  let request: unknown;
  try {
    request = JSON.parse(body);
  } catch {
    return [];
  }
  const list = listOf(field(request, 'messages')) ?? listOf(field(request, 'input')) ?? [];
  const calls = new Map<string, string>();
  let steps: ToolStep[] = [];
  for (const entry of list) {
    for (const [id, call] of callsIn(entry)) calls.set(id, call);
    const results = resultsIn(entry);
    if (results.length === 0 && isUser(entry)) steps = [];
    for (const { id, text, isError } of results) steps.push(stepOf(calls.get(id) ?? 'tool', text, isError));
  }
  return steps;
}

function stepOf(call: string, text: string, isError: boolean): ToolStep {
  const looked =
    text.length <= 2 * LOOKED_AT ? text : `${text.slice(0, LOOKED_AT)}\n${text.slice(-LOOKED_AT)}`;
  const line = looked.split('\n').find((candidate) => FAILURE.test(candidate) || SHOUTED.test(candidate));
  const failed = isError || line !== undefined;
  const error = failed ? (line ?? looked.split('\n')[0] ?? '').trim() : '';
  return { call: masked(call, CALL_CHARS), failed, error: masked(error, ERROR_CHARS) };
}

function callsIn(entry: unknown): [id: string, call: string][] {
  if (field(entry, 'type') === 'function_call')
    return [
      [
        textOf(field(entry, 'call_id')),
        `${textOf(field(entry, 'name'))} ${textOf(field(entry, 'arguments'))}`,
      ],
    ];
  const chat = (listOf(field(entry, 'tool_calls')) ?? []).map((call): [string, string] => {
    const named = field(call, 'function');
    return [
      textOf(field(call, 'id')),
      `${textOf(field(named, 'name'))} ${textOf(field(named, 'arguments'))}`,
    ];
  });
  const blocks = (listOf(field(entry, 'content')) ?? [])
    .filter((block) => field(block, 'type') === 'tool_use')
    .map((block): [string, string] => [
      textOf(field(block, 'id')),
      `${textOf(field(block, 'name'))} ${JSON.stringify(field(block, 'input') ?? {})}`,
    ]);
  return [...chat, ...blocks];
}

function resultsIn(entry: unknown): { id: string; text: string; isError: boolean }[] {
  if (field(entry, 'type') === 'function_call_output')
    return [{ id: textOf(field(entry, 'call_id')), text: flat(field(entry, 'output')), isError: false }];
  if (field(entry, 'role') === 'tool')
    return [
      { id: textOf(field(entry, 'tool_call_id')), text: flat(field(entry, 'content')), isError: false },
    ];
  return (listOf(field(entry, 'content')) ?? [])
    .filter((block) => field(block, 'type') === 'tool_result')
    .map((block) => ({
      id: textOf(field(block, 'tool_use_id')),
      text: flat(field(block, 'content')),
      isError: field(block, 'is_error') === true,
    }));
}

function isUser(entry: unknown): boolean {
  return field(entry, 'role') === 'user';
}

/** The text of a content that is one, or a list of parts. */
function flat(content: unknown): string {
  if (typeof content === 'string') return content;
  return (listOf(content) ?? []).map((part) => textOf(field(part, 'text'))).join('\n');
}

function masked(text: string, most: number): string {
  const clean = redact(text).text.replace(/\s+/g, ' ').trim();
  return clean.length <= most ? clean : `${clean.slice(0, most - 1)}…`;
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function listOf(value: unknown): unknown[] | null {
  return Array.isArray(value) ? value : null;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
