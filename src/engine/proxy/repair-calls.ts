import { randomUUID } from 'node:crypto';
import type { BodySink } from '../upstream/index.ts';
import { EventBytes } from './event-bytes.ts';
import type { Flow } from './stream.ts';
import { asArray, asObject, asText, isObject, parseJson } from './translate/json.ts';
import { OPENAI_DONE, openaiEvent } from './translate/sse.ts';
import type { JsonObject } from './translate/types.ts';

const OPEN = '<tool_call>';
const CLOSE = '</tool_call>';

type Piece = { text: string } | { call: { name: string; arguments: string } };

/** Finds calls that a model wrote as `<tool_call>{"name":…,"arguments":…}</tool_call>` in text that comes in pieces. */
class CallsInText {
  readonly #tools: ReadonlySet<string>;
  #held = '';
  #inCall = false;

  constructor(tools: ReadonlySet<string>) {
    this.#tools = tools;
  }

  push(text: string): Piece[] {
    const pieces: Piece[] = [];
    this.#held += text;
    for (;;) {
      const at = this.#held.indexOf(this.#inCall ? CLOSE : OPEN);
      if (at < 0) break;
      const before = this.#held.slice(0, at);
      this.#held = this.#held.slice(at + (this.#inCall ? CLOSE : OPEN).length);
      pieces.push(this.#inCall ? this.#read(before, CLOSE) : { text: before });
      this.#inCall = !this.#inCall;
    }
    if (!this.#inCall) {
      const keep = partOf(OPEN, this.#held);
      pieces.push({ text: this.#held.slice(0, this.#held.length - keep) });
      this.#held = this.#held.slice(this.#held.length - keep);
    }
    return pieces.filter(isSomething);
  }

  /** The text is over; a call whose mark was never closed counts when it can be read. */
  flush(): Piece[] {
    const rest = this.#inCall ? this.#read(this.#held, '') : { text: this.#held };
    this.#held = '';
    this.#inCall = false;
    return [rest].filter(isSomething);
  }

  #read(inner: string, close: string): Piece {
    const call = asObject(parseJson(inner.trim()));
    const name = asText(call.name);
    if (!this.#tools.has(name)) return { text: OPEN + inner + close };
    const given = call.arguments ?? {};
    return { call: { name, arguments: typeof given === 'string' ? given : JSON.stringify(given) } };
  }
}

function isSomething(piece: Piece): boolean {
  return 'call' in piece || piece.text !== '';
}

/** How many characters at the end of a text may be the beginning of a mark. */
function partOf(mark: string, text: string): number {
  for (let size = Math.min(mark.length - 1, text.length); size > 0; size -= 1)
    if (text.endsWith(mark.slice(0, size))) return size;
  return 0;
}

function toolCall(call: { name: string; arguments: string }): JsonObject {
  return { id: `call_${randomUUID().replaceAll('-', '')}`, type: 'function', function: call };
}

/**
 * An answer of chat completions in which calls of the request's own tools that stand in the text become calls (S49,
 * switched on by `llm.compat.text_tool_calls`). What names another tool stays text.
 */
export class RepairedFlow implements Flow {
  readonly #flow: Flow;
  readonly #isEvents: boolean;
  readonly #tools: ReadonlySet<string>;
  readonly #text: CallsInText;
  readonly #bytes = new EventBytes();
  readonly #whole: Buffer[] = [];
  #last: JsonObject = {};
  #calls = 0;

  constructor(flow: Flow, isEvents: boolean, tools: ReadonlySet<string>) {
    this.#flow = flow;
    this.#isEvents = isEvents;
    this.#tools = tools;
    this.#text = new CallsInText(tools);
  }

  pipe(sink: BodySink): void {
    this.#flow.pipe({
      data: (chunk) => {
        if (!this.#isEvents) {
          this.#whole.push(chunk);
          return true;
        }
        const ready = this.#bytes.push(chunk);
        return ready === null || sink.data(Buffer.from(this.#events(ready)));
      },
      end: () => {
        const rest = this.#isEvents ? this.#bytes.rest() : Buffer.concat(this.#whole);
        const last = this.#isEvents
          ? (rest === null ? '' : this.#events(rest)) + this.#told(this.#text.flush())
          : this.#answer(rest ?? Buffer.alloc(0));
        if (last.length > 0) sink.data(Buffer.from(last));
        sink.end();
      },
      fail: (error) => sink.fail(error),
    });
  }

  resume(): void {
    this.#flow.resume();
  }

  abort(): void {
    this.#flow.abort();
  }

  /** Whole events, those that hold text told anew. */
  #events(bytes: Buffer): string {
    const events = bytes.toString('utf8').split(/(?<=(?:\r\n|\n|\r(?!\n)){2})/);
    return events.map((event) => this.#event(event)).join('');
  }

  #event(event: string): string {
    const data = event
      .split(/\r\n|\n|\r/)
      .filter((line) => line.startsWith('data:'))
      .map((line) => line.slice(5).trimStart())
      .join('\n');
    if (data.trim() === '[DONE]') return this.#told(this.#text.flush()) + OPENAI_DONE;
    const chunk = parseJson(data);
    const choice = asObject(asArray(asObject(chunk).choices)[0]);
    if (!isObject(chunk) || (choice.index ?? 0) !== 0) return event;
    const delta = asObject(choice.delta);
    const text = asText(delta.content);
    const finish = choice.finish_reason;
    if (text === '' && typeof finish !== 'string') return event;
    this.#last = chunk;
    const { content: _, ...others } = delta;
    const said = this.#told(this.#text.push(text));
    if (typeof finish !== 'string')
      return (Object.keys(others).length > 0 ? this.#chunk(others, null) : '') + said;
    const rest = this.#told(this.#text.flush());
    return said + rest + this.#chunk(others, this.#calls > 0 && finish === 'stop' ? 'tool_calls' : finish);
  }

  #told(pieces: Piece[]): string {
    return pieces
      .map((piece) => {
        if ('text' in piece) return this.#chunk({ content: piece.text }, null);
        const call = { index: this.#calls, ...toolCall(piece.call) };
        this.#calls += 1;
        return this.#chunk({ tool_calls: [call] }, null);
      })
      .join('');
  }

  #chunk(delta: JsonObject, finish: string | null): string {
    return openaiEvent({ ...this.#last, choices: [{ index: 0, delta, finish_reason: finish }] });
  }

  /** A whole answer. */
  #answer(bytes: Buffer): Buffer | string {
    const json = parseJson(bytes.toString('utf8'));
    const choices = asArray(asObject(json).choices).filter(isObject);
    const [first, ...more] = choices;
    const message = asObject(first?.message);
    if (!first || !isObject(json) || typeof message.content !== 'string') return bytes;
    const text = new CallsInText(this.#tools);
    const pieces = [...text.push(message.content), ...text.flush()];
    const calls = pieces.flatMap((piece) => ('call' in piece ? [toolCall(piece.call)] : []));
    if (calls.length === 0) return bytes;
    const said = pieces
      .map((piece) => ('text' in piece ? piece.text : ''))
      .join('')
      .trim();
    const repaired = {
      ...message,
      content: said === '' ? null : said,
      tool_calls: [...asArray(message.tool_calls), ...calls],
    };
    const finish_reason = first.finish_reason === 'stop' ? 'tool_calls' : first.finish_reason;
    return JSON.stringify({ ...json, choices: [{ ...first, message: repaired, finish_reason }, ...more] });
  }
}
