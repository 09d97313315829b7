import type { Dialect } from '../../shared/model.ts';
import { findString } from './skim.ts';

/** What a response must repeat of its request, where that went upstream changed; values as JSON. */
export type Echo = Readonly<Record<string, string>>;

/** Values that a client must hear in the form that it used itself; null: nothing to exchange. */
export interface OwnWords {
  dialect: Dialect;
  model: string | null;
  echo: Echo | null;
}

/** An event of a stream: up to its blank line, or what has come of it. */
const EVENT = /.*?(?:\r\n|\n|\r(?!\n)){2}|.+$/gs;
const LINE_END = /(\r\n|\n|\r)/;
/** The head of a data line, perhaps behind a byte order mark (as latin1). */
const DATA = /^(?:\u00ef\u00bb\u00bf)?data(?:: ?|$)/;

/** Puts another model name (as JSON) into an event or reply; every other byte stays. */
export function renameModel(dialect: Dialect, json: string, model: string): string {
  const inner = { openai: null, anthropic: 'message', responses: 'response' }[dialect];
  const span = findString(json, ['model']) ?? (inner ? findString(json, [inner, 'model']) : null);
  return span ? exchange(json, span, model) : json;
}

/** Puts the client's own values back into a response object or an event that holds one. */
export function restoreEcho(json: string, echo: Echo | null): string {
  let out = json;
  for (const [key, value] of Object.entries(echo ?? {})) {
    const span = findString(out, ['response', key]) ?? findString(out, [key]);
    if (span) out = exchange(out, span, value);
  }
  return out;
}

/** An editor of event stream bytes that come as whole events: it exchanges those values and leaves every other byte. */
export function eventEditor({ dialect, model, echo }: OwnWords): (bytes: Buffer) => Buffer {
  const name = model === null ? null : latin1(JSON.stringify(model));
  const values = Object.entries(echo ?? {}).map(([key, value]) => [key, latin1(value)] as const);
  const marks = [...(name === null ? [] : ['"model"']), ...values.map(([key]) => JSON.stringify(key))];
  const restored = values.length === 0 ? null : Object.fromEntries(values);
  const edit = (json: string) =>
    restoreEcho(name === null ? json : renameModel(dialect, json, name), restored);
  return (bytes) => {
    if (!marks.some((mark) => bytes.includes(mark))) return bytes;
    // One character a byte: what is not exchanged comes out as it went in.
    const text = bytes.toString('latin1');
    return Buffer.from(
      text.replace(EVENT, (event) => editData(event, edit)),
      'latin1',
    );
  };
}

/** Edits the data of one event, which may stand on several lines. An edit must not add or take lines. */
function editData(event: string, edit: (data: string) => string): string {
  const lines = event.split(LINE_END);
  const heads = lines.map((line) => DATA.exec(line)?.[0] ?? null);
  const data = lines.filter((_, at) => heads[at]).map((line) => line.replace(DATA, ''));
  if (data.length === 0) return event;
  const before = data.join('\n');
  const after = edit(before);
  if (after === before) return event;
  const values = after.split('\n');
  return lines.map((line, at) => (heads[at] ? heads[at] + (values.shift() ?? '') : line)).join('');
}

function latin1(text: string): string {
  return Buffer.from(text).toString('latin1');
}

function exchange(json: string, span: { start: number; end: number }, value: string): string {
  return json.slice(0, span.start) + value + json.slice(span.end);
}
