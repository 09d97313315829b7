import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeHead, findString, member, skim } from '../../../src/engine/proxy/skim.ts';
import {
  appendSystem,
  applySplices,
  IDENTITY_FIELDS,
  prependMessage,
  removeFields,
  renameDeveloper,
  setModel,
} from '../../../src/engine/proxy/splice.ts';
import type { Dialect } from '../../../src/shared/model.ts';
import { isReadAlikeEverywhere } from '../../support/json.ts';

type Json = Record<string, unknown>;

const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('"quoted" \\ back\nline', '\\\\"', '{"role":"system"}', '\u0000', '😀"'),
);
const role = fc.constantFrom('system', 'developer', 'user', 'assistant', 'tool');
const block = fc.oneof(
  fc.record({ type: fc.constant('text'), text }),
  fc.record({ type: fc.constant('tool_result'), tool_use_id: text, content: text }),
);
const content = fc.oneof(text, fc.array(block, { maxLength: 4 }), fc.constant(null));
const messages = fc.array(
  fc.record(
    { role, content, extra: fc.jsonValue({ maxDepth: 2 }).filter(isReadAlikeEverywhere) },
    { requiredKeys: ['role'] },
  ),
  {
    maxLength: 6,
  },
);
const identity = fc.record(
  Object.fromEntries(IDENTITY_FIELDS.map((key) => [key, fc.oneof(text, fc.boolean())])) as Record<
    string,
    fc.Arbitrary<unknown>
  >,
  { requiredKeys: [] },
);
const anyBody = fc
  .record({
    known: fc.record(
      {
        model: text,
        messages,
        stream: fc.boolean(),
        system: fc.oneof(text, fc.array(block, { maxLength: 2 })),
      },
      {
        requiredKeys: ['messages'],
      },
    ),
    identity,
    unknown: fc
      .dictionary(fc.string({ minLength: 1 }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 })
      .filter(isReadAlikeEverywhere),
    order: fc.array(fc.nat(), { minLength: 20, maxLength: 20 }),
    indent: fc.constantFrom(0, 2, '\t'),
    escaped: fc.boolean(),
  })
  .map(({ known, identity, unknown, order, indent, escaped }) => {
    const entries = Object.entries({ ...unknown, ...identity, ...known });
    entries.sort((a, b) => (order[a[0].length % 20] ?? 0) - (order[b[0].length % 20] ?? 0));
    const json = JSON.stringify(Object.fromEntries(entries), null, indent);
    const spelled = escaped
      ? json.replace(/[\u0080-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
      : json;
    return { bytes: Buffer.from(spelled), value: JSON.parse(spelled) as Json };
  });

/** The same edits on parsed JSON: what the splices must amount to. */
function edited(value: Json, dialect: Dialect): Json {
  const body = structuredClone(value);
  for (const key of IDENTITY_FIELDS) delete body[key];
  body.model = 'new "model"';
  const list = body.messages as Json[];
  const user = list.findIndex((message) => message.role === 'user');
  if (user >= 0) {
    const target = list[user] as Json;
    const added = { type: 'text', text: 'MSG\n' };
    if (typeof target.content === 'string')
      target.content =
        dialect === 'anthropic' && target.content !== ''
          ? [added, { type: 'text', text: target.content }]
          : `MSG\n${target.content}`;
    else if (Array.isArray(target.content)) {
      const after = target.content.findLastIndex((candidate: Json) => candidate.type === 'tool_result');
      const words = target.content.find((candidate: Json) => candidate.type === 'text') as Json | undefined;
      if (after < 0 && words && dialect === 'openai') words.text = `MSG\n${words.text}`;
      else target.content.splice(after + 1, 0, added);
    }
  }
  if (dialect === 'anthropic') {
    if (typeof body.system === 'string')
      body.system = body.system === '' ? 'SYS "x"' : `${body.system}\n\nSYS "x"`;
    else if (Array.isArray(body.system)) body.system.push({ type: 'text', text: 'SYS "x"' });
    else body.system = 'SYS "x"';
  } else if (list[0]) {
    const first = list[0];
    if ((first.role === 'system' || first.role === 'developer') && typeof first.content === 'string')
      first.content = first.content === '' ? 'SYS "x"' : `${first.content}\n\nSYS "x"`;
    else if ((first.role === 'system' || first.role === 'developer') && Array.isArray(first.content))
      first.content.push({ type: 'text', text: 'SYS "x"' });
    else list.unshift({ role: 'system', content: 'SYS "x"' });
  }
  return body;
}

function splice(bytes: Buffer, dialect: Dialect): Buffer {
  const from = skim(bytes);
  const user = from.messages.find((message) => message.role === 'user');
  return applySplices(from, [
    ...removeFields(from),
    ...setModel(from, 'new "model"'),
    ...appendSystem(from, dialect, 'SYS "x"'),
    ...(user ? prependMessage(from, user, 'MSG\n', dialect) : []),
  ]);
}

describe('skim and splice', () => {
  it.each(['openai', 'anthropic'] as const)(
    'equals parse, change, compare on fuzzed %s bodies',
    (dialect) => {
      fc.assert(
        fc.property(anyBody, ({ bytes, value }) => {
          expect(JSON.parse(splice(bytes, dialect).toString('utf8'))).toEqual(edited(value, dialect));
        }),
        { numRuns: 1500 },
      );
    },
  );

  it('leaves an untouched body as the very same bytes', () => {
    fc.assert(
      fc.property(anyBody, ({ bytes }) => {
        expect(applySplices(skim(bytes), [])).toBe(bytes);
      }),
    );
  });

  it('keeps number spellings, white space, key order and duplicate unknown keys', () => {
    const body =
      '{ "seed":1.50e+3,\t"x":12345678901234567890, "x":0.1,\r\n"model" : "a" ,"messages":[ {"role":"user","content":"hi"} ] }';
    const from = skim(Buffer.from(body));
    expect(applySplices(from, setModel(from, 'b')).toString()).toBe(body.replace('"a"', '"b"'));
  });

  it.each([
    ['a byte order mark', '\uFEFF{"model":"a","messages":[]}'],
    ['one of our keys twice', '{"model":"x","model":"a","messages":[]}'],
    ['an escaped key', '{"mod\\u0065l":"a","messages":[]}'],
    ['a message with two contents', '{"model":"a","messages":[{"role":"user","content":"1","content":"2"}]}'],
  ])('reads %s as JSON.parse does', (_name, body) => {
    const from = skim(Buffer.from(body));
    const after = JSON.parse(applySplices(from, setModel(from, 'b')).toString()) as Json;
    expect(after).toEqual({ ...(JSON.parse(body.replace('\uFEFF', '')) as Json), model: 'b' });
    expect(applySplices(from, [])).toEqual(Buffer.from(body));
  });

  it.each([
    '',
    '[]',
    'null',
    '{',
    '{"a":}',
    '{"a":1,}',
    '{"messages":[}',
    '{"a":[1}',
    '{"a":1} x',
    '{"a":"',
    '{"a":tru}',
    '{a:1}',
  ])('refuses %j as bad input, never with a TypeError', (body) => {
    expect(() => skim(Buffer.from(body))).toThrowError(expect.objectContaining({ code: 'BAD_INPUT' }));
  });

  it('never misreads what JSON.parse accepts', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }).filter(isReadAlikeEverywhere), (json) => {
        const value: unknown = JSON.parse(json);
        if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
        const from = skim(Buffer.from(json));
        const source = from.bytes.toString('utf8');
        const back = Object.fromEntries(
          from.members.map((m) => [
            m.key,
            JSON.parse(Buffer.from(source).subarray(m.value.start, m.value.end).toString()),
          ]),
        );
        expect(JSON.stringify(back)).toBe(JSON.stringify(Object.fromEntries(Object.entries(value))));
      }),
      { numRuns: 1000 },
    );
  });

  it('cuts a long string between characters, never inside one', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', minLength: 50, maxLength: 200 }),
        fc.integer({ min: 20, max: 60 }),
        (words, limit) => {
          const from = skim(Buffer.from(JSON.stringify({ system: words })));
          const value = member(from, 'system')?.value;
          if (!value) throw new Error('no system');
          const head = decodeHead(from, value, limit);
          expect(words.startsWith(head)).toBe(true);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('T05: renames the developer role and nothing else', () => {
    const body = '{"messages":[{"role":"developer","content":"developer"},{"content":"x","role":"user"}]}';
    const from = skim(Buffer.from(body));
    expect(applySplices(from, renameDeveloper(from)).toString()).toBe(
      body.replace('"role":"developer"', '"role":"system"'),
    );
  });

  it('finds a model name in an event only where it is one', () => {
    expect(
      findString('{"choices":[{"model":"no"}],"text":"\\"model\\":\\"no\\"","model":"yes"}', ['model']),
    ).toMatchObject({ start: 62, end: 67 });
    expect(findString('{"type":"ping"}', ['message', 'model'])).toBeNull();
    expect(findString('[DONE]', ['model'])).toBeNull();
  });
});
