import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ask, PAIRS, WIRES, type Wire } from '../../support/ask.ts';
import { hear } from '../../support/hear.ts';
import { type ProxyLab, startProxyLab } from '../../support/proxy.ts';
import { rawRequest } from '../../support/raw.ts';

const labs = {} as Record<Wire, ProxyLab>;
beforeAll(async () => {
  for (const wire of WIRES) labs[wire] = await startProxyLab({ wire });
});
afterEach(() => {
  for (const lab of Object.values(labs)) {
    expect(lab.errors).toEqual([]);
    lab.upstream.reset();
  }
});
afterAll(async () => {
  for (const lab of Object.values(labs)) await lab.close();
});

const says = (wire: Wire, type: string, body: string, status = 200) =>
  labs[wire].upstream.reply((_request, response) => {
    response.writeHead(status, { 'content-type': type }).end(body);
  });
const MINIMAX = (code: number, words: string) =>
  `{"id":"x","choices":null,"base_resp":{"status_code":${code},"status_msg":"${words}"}}`;

const WHOLE: [body: string, status: number, words: string][] = [
  ['{}', 502, 'no answer'],
  ['{"id":"x","choices":null,"content":null,"output":null}', 502, 'no answer'],
  ['{"id":"x","choices":[]}', 502, 'no answer'],
  ['{"id":"x","error":{"message":"behind the id"}}', 502, 'behind the id'],
  ['{"detail":"Not Found"}', 502, 'Not Found'],
  ['{"code":401,"msg":"token expired","success":false}', 502, 'token expired'],
  [MINIMAX(1004, 'login fail'), 401, 'login fail'],
  [MINIMAX(1008, 'insufficient balance'), 402, 'insufficient balance'],
  [MINIMAX(1002, 'too many requests'), 429, 'too many requests'],
  [MINIMAX(1013, 'internal trouble'), 502, 'internal trouble'],
];
const ENDS = /\[DONE\]|message_stop|response\.(?:completed|incomplete)/;

describe.each(PAIRS)('%s client, %s upstream', (client, wire) => {
  const send = (stream: boolean) => rawRequest(labs[wire].port, ask(client, stream));

  // Such a 200 was passed on as it came, or told as an answer without a word.
  it.each(WHOLE)('a good status with %s is an error', async (body, status, words) => {
    for (const stream of [false, true]) {
      says(wire, 'application/json', body, 200);
      const answer = await send(stream);
      expect(answer.status, answer.body).toBe(status);
      const { error } = JSON.parse(answer.body);
      expect(error.message).toContain(words);
      expect(labs[wire].sessions.list({ limit: 1 }).turns[0]?.status).toBe('failed');
    }
  });

  // OpenAI's clients stop at [DONE]: an error behind it was never heard.
  it.each([
    ['nothing but its end', 'data: [DONE]\n\n', /empty|before the answer was complete/],
    ['an empty object', 'data: {}\n\ndata: [DONE]\n\n', /empty|before the answer was complete/],
    [
      'counts alone',
      ': hm\r\n\r\nid: 1\r\ndata: {"id":"x","choices":[],"usage":{"prompt_tokens":1}}\r\n\r\nid: 2\r\ndata: [DONE]\r\n\r\n',
      /empty|before the answer was complete/,
    ],
    ['nothing but comments', ': one\n\n: two\n\n', /before the answer was complete/],
    ['an error as a word', 'data: {"error":"boom"}\n\n', /boom/],
    ['no blank line at its end', 'data: [DONE]', /empty|before the answer was complete/],
    ['a whole object of nothing', '{"choices":null,"content":null,"output":null}', /./],
  ])('a stream of %s is an error, for the SDK too', async (_, bytes, words) => {
    says(wire, 'text/event-stream', bytes);
    const { body } = await send(true);
    expect(body).toMatch(words);
    expect(body).not.toMatch(ENDS);
    expect(labs[wire].sessions.list({ limit: 1 }).turns[0]?.status).toBe('failed');
    says(wire, 'text/event-stream', bytes);
    await expect(hear(labs[wire].url, client)).rejects.toThrow();
  });
});

it.each(['openai', 'anthropic', 'responses'] as const)(
  'an error of MiniMax in a stream reaches the %s SDK in its words',
  async (client) => {
    says('openai', 'text/event-stream', `data: ${MINIMAX(1008, 'insufficient balance')}\n\n`);
    await expect(hear(labs.openai.url, client)).rejects.toThrow(/insufficient balance/);
  },
);
