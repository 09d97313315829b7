import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { asArray, asObject, asText, isObject } from '../../../../../src/engine/proxy/translate/json.ts';
import {
  createTranslator,
  translateReply,
  translateRequest,
} from '../../../../../src/engine/proxy/translate/pairs.ts';
import type { JsonObject } from '../../../../../src/engine/proxy/translate/types.ts';
import type { Dialect } from '../../../../../src/shared/model.ts';
import { isReadAlikeEverywhere } from '../../../../support/json.ts';
import { assembled, eventsOf, heardIn, type Said, wholeOf } from './answers.ts';
import { options, run } from './support.ts';

const DIALECTS = ['openai', 'anthropic', 'responses'] as const;
const PAIRS = DIALECTS.flatMap((from) =>
  DIALECTS.filter((to) => to !== from).map((to) => [from, to] as [Dialect, Dialect]),
);
const ERROR = '[tool error] ';
const PNG = 'iVBORw0KGgo=';

interface Turn {
  user: string;
  image: 'none' | 'url' | 'data';
  text: string;
  calls: { name: string; input: JsonObject; result: string; failed: boolean; pictured: boolean }[];
}

const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }).map((text) => `w${text}w`);
const input = fc
  .dictionary(fc.string({ maxLength: 4 }), fc.oneof(words, fc.jsonValue({ maxDepth: 2 })), {
    maxKeys: 3,
    noNullPrototype: true,
  })
  .filter(isReadAlikeEverywhere);

function conversation(pictured: boolean): fc.Arbitrary<Turn[]> {
  const call = fc.record({
    name: fc.constantFrom('exec', 'read_file', 'mcp__a__go'),
    input,
    result: words,
    failed: fc.boolean(),
    pictured: pictured ? fc.boolean() : fc.constant(false),
  });
  return fc.array(
    fc.record({
      user: words,
      image: fc.constantFrom<Turn['image']>('none', 'url', 'data'),
      text: words,
      calls: fc.array(call, { maxLength: 3 }),
    }),
    { minLength: 1, maxLength: 4 },
  );
}

const imageUrl = (image: Turn['image']): string =>
  image === 'url' ? 'https://host/a.png' : `data:image/png;base64,${PNG}`;
const anthropicImage = (url: string): JsonObject => ({
  type: 'image',
  source: url.startsWith('data:')
    ? { type: 'base64', media_type: 'image/png', data: PNG }
    : { type: 'url', url },
});

/** A conversation as a request of each dialect; JSON as it is after a journey over a wire. */
function requestIn(dialect: Dialect, turns: readonly Turn[]): JsonObject {
  const said = turns.map((turn, at) => ({
    ...turn,
    calls: turn.calls.map((call, n) => ({ ...call, id: `call_${at}_${n}` })),
  }));
  const body = { openai: chat, anthropic, responses }[dialect](said);
  return JSON.parse(JSON.stringify({ model: 'm', ...body })) as JsonObject;
}
type KnownTurn = Omit<Turn, 'calls'> & { calls: (Turn['calls'][number] & { id: string })[] };

function chat(turns: readonly KnownTurn[]): JsonObject {
  return {
    messages: turns.flatMap(({ user, image, text, calls }) => [
      {
        role: 'user',
        content:
          image === 'none'
            ? user
            : [
                { type: 'text', text: user },
                { type: 'image_url', image_url: { url: imageUrl(image) } },
              ],
      },
      {
        role: 'assistant',
        content: text,
        ...(calls.length === 0
          ? {}
          : {
              tool_calls: calls.map(({ id, name, input }) => ({
                id,
                type: 'function',
                function: { name, arguments: JSON.stringify(input) },
              })),
            }),
      },
      ...calls.map(({ id, result, failed }) => ({
        role: 'tool',
        tool_call_id: id,
        content: (failed ? ERROR : '') + result,
      })),
    ]),
  };
}

function anthropic(turns: readonly KnownTurn[]): JsonObject {
  return {
    max_tokens: 99,
    messages: turns.flatMap(({ user, image, text, calls }) => [
      {
        role: 'user',
        content: [
          { type: 'text', text: user },
          ...(image === 'none' ? [] : [anthropicImage(imageUrl(image))]),
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'text', text },
          ...calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input })),
        ],
      },
      ...(calls.length === 0
        ? []
        : [
            {
              role: 'user',
              content: calls.map(({ id, result, failed, pictured }) => ({
                type: 'tool_result',
                tool_use_id: id,
                content: [
                  { type: 'text', text: result },
                  ...(pictured ? [anthropicImage(imageUrl('data'))] : []),
                ],
                ...(failed ? { is_error: true } : {}),
              })),
            },
          ]),
    ]),
  };
}

function responses(turns: readonly KnownTurn[]): JsonObject {
  return {
    input: turns.flatMap(({ user, image, text, calls }) => [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: user },
          ...(image === 'none' ? [] : [{ type: 'input_image', image_url: imageUrl(image) }]),
        ],
      },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] },
      ...calls.map(({ id, name, input }) => ({
        type: 'function_call',
        call_id: id,
        name,
        arguments: JSON.stringify(input),
      })),
      ...calls.map(({ id, result, failed, pictured }) => ({
        type: 'function_call_output',
        call_id: id,
        output: pictured
          ? [
              { type: 'input_text', text: (failed ? ERROR : '') + result },
              { type: 'input_image', image_url: imageUrl('data') },
            ]
          : (failed ? ERROR : '') + result,
      })),
    ]),
  };
}

/** What a request says, in order, whatever its dialect. */
function saidIn(dialect: Dialect, body: JsonObject): string[] {
  const list = asArray(dialect === 'responses' ? body.input : body.messages).filter(isObject);
  return list.flatMap((message) => {
    const role = asText(message.role);
    if (message.type === 'function_call')
      return [call(message.call_id, message.name, JSON.parse(asText(message.arguments)))];
    if (message.type === 'function_call_output') return result(message.call_id, message.output);
    if (role === 'tool') return result(message.tool_call_id, message.content);
    const calls = asArray(message.tool_calls)
      .filter(isObject)
      .map(({ id, function: fn }) => call(id, asObject(fn).name, JSON.parse(asText(asObject(fn).arguments))));
    return [...parts(role, message.content), ...calls];
  });
}

const call = (id: unknown, name: unknown, value: unknown): string =>
  `call ${id} ${name} ${JSON.stringify(value)}`;

/** `failed`: what the wire's flag says; null where it has none and the text is marked. */
function result(id: unknown, content: unknown, failed: boolean | null = null): string[] {
  const inner = parts('tool', content);
  const marked = inner[0]?.startsWith(`tool: ${ERROR}`) ?? false;
  const told = failed === null ? inner.map((line) => line.replace(ERROR, '')) : inner;
  return [`result ${id}${(failed ?? marked) ? ' failed' : ''}`, ...told];
}

function parts(role: string, content: unknown): string[] {
  if (typeof content === 'string') return [`${role}: ${content}`];
  return asArray(content)
    .filter(isObject)
    .flatMap((part) => {
      switch (part.type) {
        case 'tool_use':
          return [call(part.id, part.name, part.input)];
        case 'tool_result':
          return result(part.tool_use_id, part.content, part.is_error === true);
        case 'image_url':
          return [`image ${asText(asObject(part.image_url).url)}`];
        case 'input_image':
          return [`image ${asText(part.image_url)}`];
        case 'image': {
          const { url, data } = asObject(part.source);
          return [`image ${asText(url) || `data:image/png;base64,${asText(data)}`}`];
        }
        default:
          return [`${role}: ${asText(part.text)}`];
      }
    });
}

describe.each(PAIRS)('%s → %s → back', (from, to) => {
  // A chat tool answers in text only: its pictures follow the results, which the other tests look at.
  const pictured = from !== 'openai' && to !== 'openai';

  it('a conversation keeps its texts, pictures, calls, results and errors, in order, and loses nothing', () => {
    fc.assert(
      fc.property(conversation(pictured), (turns) => {
        const body = requestIn(from, turns);
        const there = translateRequest(from, to, body, options());
        const sent = JSON.parse(JSON.stringify(there.body)) as JsonObject;
        const back = translateRequest(to, from, sent, options());
        const said = saidIn(from, body);
        expect(saidIn(to, sent)).toEqual(said);
        expect(saidIn(from, JSON.parse(JSON.stringify(back.body)) as JsonObject)).toEqual(said);
        expect([...there.dropped, ...back.dropped]).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  it('an answer says the same to the other side’s client, in a stream and whole', () => {
    const answer: fc.Arbitrary<Said> = fc
      .record(
        {
          thinking: words,
          text: words,
          calls: fc.array(
            input.map((value) => JSON.stringify(value)),
            { minLength: 1, maxLength: 3 },
          ),
        },
        { requiredKeys: ['text'] },
      )
      .map(({ calls, ...said }) => ({
        ...said,
        ...(calls
          ? { calls: calls.map((args, n) => ({ id: `call_${n}`, name: 'exec', arguments: args })) }
          : {}),
      }));
    fc.assert(
      fc.property(answer, (said) => {
        const asked = { ...requestIn(from, []), ...SHORT[from], stream: true };
        const { context } = translateRequest(from, to, asked, options());
        const events = eventsOf(to, said);
        const streamed = assembled(from, run(createTranslator(to, from, context), events));
        const expected = {
          thinking: said.thinking ?? '',
          text: said.text ?? '',
          calls: (said.calls ?? []).map((one) => ({ ...one, arguments: JSON.parse(one.arguments) })),
        };
        expect(heardIn(from, streamed.reply ?? {})).toMatchObject(expected);
        expect(streamed.complete).toBe(true);
        expect(heardIn(from, translateReply(to, from, wholeOf(to, events), context))).toMatchObject(expected);
      }),
      { numRuns: 60 },
    );
  });
});

const SHORT: Readonly<Record<Dialect, JsonObject>> = {
  openai: { messages: [{ role: 'user', content: 'hi' }] },
  anthropic: { messages: [{ role: 'user', content: 'hi' }] },
  responses: { input: 'hi' },
};
