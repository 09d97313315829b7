import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Dialect } from '../../../src/shared/model.ts';
import { chatJudge } from '../../support/judges/chat.ts';
import { ASKED, type Door, type Judge, TOOLS } from '../../support/judges/judge.ts';
import { messagesJudge } from '../../support/judges/messages.ts';
import { received } from '../../support/judges/received.ts';
import { responsesJudge } from '../../support/judges/responses.ts';
import { type ProxyLab, startProxyLab } from '../../support/proxy.ts';
import { errorReply, type ScriptedReply } from '../../support/upstream.ts';

const JUDGES: readonly ((door: Door) => Judge)[] = [chatJudge, responsesJudge, messagesJudge];
const WIRES: readonly Dialect[] = ['openai', 'responses', 'anthropic'];

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const PDF = Buffer.from('%PDF-1.4\n%%EOF\n').toString('base64');
const INPUTS = [{ of: 'Zürich 🌍' }, { of: 'CET "\\' }];
const RICH: ScriptedReply = {
  reasoning: 'The user wants weather.',
  text: 'Let me look 🌍.',
  tools: [
    { id: 'call_abcdefgh1', name: 'get_weather', arguments: JSON.stringify(INPUTS[0]) },
    { id: 'call_abcdefgh2', name: 'get_time', arguments: JSON.stringify(INPUTS[1]) },
  ],
  usage: { input: 100, output: 20, cacheRead: 60, cacheWrite: 10 },
};
/** What every SDK must make of it. */
const RICH_HEARD = {
  text: 'Let me look 🌍.',
  thinking: 'The user wants weather.',
  refusal: '',
  calls: [
    { id: expect.any(String), name: 'get_weather', input: INPUTS[0] },
    { id: expect.any(String), name: 'get_time', input: INPUTS[1] },
  ],
  end: 'tools',
  usage: { input: 100, cacheRead: 60, output: 20 },
  model: ASKED,
};
/** How each wire says that an answer was cut at its limit. */
const CUT: Readonly<Record<Dialect, string>> = {
  openai: 'length',
  anthropic: 'max_tokens',
  responses: 'max_output_tokens',
};

describe.each(WIRES)('over a provider that speaks %s', (wire) => {
  let lab: ProxyLab;
  const judges: Judge[] = [];
  beforeAll(async () => {
    lab = await startProxyLab({ wire, inject: 'ADDED', upstream: { strict: { unknownFields: true } } });
    for (const judge of JUDGES) judges.push(judge({ base: `${lab.url}/a/tester` }));
  });
  afterEach(() => {
    expect(lab.errors).toEqual([]);
    lab.upstream.reset();
  });
  afterAll(() => lab.close());

  describe.each(JUDGES.map((judge, at) => ({ name: judge({ base: 'http://unused' }).name, at })))(
    '$name',
    ({ at }) => {
      const judge = () => judges[at] as Judge;
      const sent = () => received(wire, lab.upstream.last.json);

      it('reads thinking, words, parallel calls, counts and the name that it asked for', async () => {
        lab.upstream.reply(RICH);
        expect(await judge().whole({ tools: true })).toMatchObject(RICH_HEARD);
        expect(sent()).toMatchObject({ text: 'weather?', tools: TOOLS.map(({ name }) => name) });
        expect(sent().system).toContain('ADDED');
      });

      it('streams the same, with every event of its helper', async () => {
        lab.upstream.reply({ ...RICH, interleave: true, pings: true, repeatUsage: true });
        const { heard, told } = await judge().stream({ tools: true });
        expect(heard).toMatchObject(RICH_HEARD);
        expect([...told].sort()).toEqual(expect.arrayContaining([...judge().tells].sort()));
      });

      it('tells its request by an id', async () => {
        lab.upstream.reply('Hi.');
        expect((await judge().whole({})).requestId).toMatch(/\S{8,}/);
      });

      it('runs tools until the model is content, with parallel results where they belong', async () => {
        lab.upstream.reply(
          RICH,
          { tools: [{ id: 'call_abcdefgh3', name: 'get_time', arguments: '{}' }] },
          'Sunny at noon.',
        );
        const ran: [string, unknown][] = [];
        const words = await judge().loop({ system: 'Be brief.' }, (name, input) => {
          ran.push([name, input]);
          return `${name} said ${ran.length}`;
        });
        expect(words).toBe('Sunny at noon.');
        expect(ran).toEqual([
          ['get_weather', INPUTS[0]],
          ['get_time', INPUTS[1]],
          ['get_time', {}],
        ]);
        // A provider of the same wire keeps what came before; for any other one MetaClaw or the SDK does.
        const keepsItself = wire === judge().dialect && wire !== 'openai';
        const earlier = keepsItself ? [] : ['get_weather said 1', 'get_time said 2'];
        expect(sent().results).toEqual([...earlier, 'get_time said 3']);
      });

      it('shows pictures and PDF files', async () => {
        lab.upstream.reply('A dot.');
        expect((await judge().whole({ image: PNG, pdf: PDF })).text).toBe('A dot.');
        expect(sent()).toMatchObject({ text: 'weather?', images: [PNG], pdfs: [PDF] });
      });

      it('gets structured output by its schema, whole and streamed', async () => {
        const text = '{"city":"Zürich","people":448664}';
        lab.upstream.reply(text, text);
        const whole = await judge().whole({ structured: true });
        const { heard } = await judge().stream({ structured: true });
        for (const { parsed } of [whole, heard]) expect(parsed).toEqual(JSON.parse(text));
        expect(sent().schema).toMatchObject({ type: 'object', required: ['city', 'people'] });
      });

      it('asks for thinking in the words of the provider', async () => {
        lab.upstream.reply('Hm.');
        await judge().whole({ thinks: true });
        expect(sent().thinks).toBe(true);
      });

      it('hears a refusal as one, whole and streamed', async () => {
        lab.upstream.reply({ refusal: 'I will not.' }, { refusal: 'I will not.' });
        const whole = await judge().whole({});
        const { heard } = await judge().stream({});
        for (const { text, refusal, end } of [whole, heard]) {
          expect(text + refusal).toBe('I will not.');
          expect(end).toBe('refusal');
        }
      });

      it('hears that an answer was cut at its limit', async () => {
        const reply = { text: 'Half of', stop: CUT[wire] };
        lab.upstream.reply(reply, reply);
        const whole = await judge().whole({ limit: 20 });
        const { heard } = await judge().stream({ limit: 20 });
        for (const { text, end } of [whole, heard]) expect([text, end]).toEqual(['Half of', 'limit']);
      });

      it.each([
        [400, 'invalid_request_error', 'BadRequestError'],
        [401, 'authentication_error', 'AuthenticationError'],
        [403, 'permission_error', 'PermissionDeniedError'],
        [404, 'not_found_error', 'NotFoundError'],
        [429, 'rate_limit_error', 'RateLimitError'],
        [500, 'api_error', 'InternalServerError'],
      ] as const)('throws what it knows for %i %s', async (status, type, name) => {
        lab.upstream.script(() => ({
          ...errorReply(status, wire === 'anthropic', type, 'the reason why'),
          headers: { 'retry-after': '1' },
        }));
        const refused = await judge()
          .whole({})
          .catch((error: unknown) => error);
        expect(refused).toBeInstanceOf(judge().errors[name]);
        expect(refused).toMatchObject({
          status,
          message: expect.stringContaining('the reason why'),
          requestID: expect.stringMatching(/\S{8,}/),
        });
        const early = await judge()
          .stream({})
          .catch((error: unknown) => error);
        expect(early).toBeInstanceOf(judge().errors[name]);
      });

      it.each(['error', 'reset', 'close'] as const)(
        'throws when a stream ends by %s in its middle',
        async (ending) => {
          lab.upstream.reply({ text: 'A long answer that will not end.', wire: { after: 6, ending } });
          const broken = await judge()
            .stream({})
            .catch((error: unknown) => error);
          expect(broken).toBeInstanceOf(judge().errors.APIError);
          if (ending === 'error') expect(String(broken)).toContain('Overloaded');
        },
      );

      it('takes the provider off its work when it aborts or gives up waiting', async () => {
        lab.upstream.script(() => ({ text: 'never', wire: { headersDelayMs: 60_000 } }));
        const controller = new AbortController();
        const aborted = judge()
          .whole({}, { signal: controller.signal })
          .catch((error: unknown) => error);
        await lab.upstream.until(({ chats }) => chats.length === 1);
        controller.abort();
        expect(await aborted).toBeInstanceOf(judge().errors.APIUserAbortError);
        await lab.upstream.until(({ chats }) => chats[0]?.state === 'caller-left');
        const late = await judge()
          .whole({}, { timeout: 200 })
          .catch((error: unknown) => error);
        expect(late).toBeInstanceOf(judge().errors.APIConnectionTimeoutError);
        await lab.upstream.until(({ chats }) => chats.every(({ state }) => state === 'caller-left'));
      });
    },
  );
});
