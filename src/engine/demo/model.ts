import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Served names; the evolver has its own, so that the script knows who asks. */
export const DEMO_MODEL = 'metaclaw-demo-model';
export const DEMO_EVOLVER = 'metaclaw-demo-evolver';

/** The skill that the scripted evolver proposes, and the words that later find it. */
export const DEMO_SKILL = {
  name: 'check-lockfile-drift-first',
  description:
    'When a test passes locally but fails in CI, compare the lock file and the installed dependency tree before reading the test.',
  category: 'coding',
  content: [
    '1. Run a clean install from the lock file (`npm ci`) and repeat the test.',
    '2. Compare the dependency tree of both machines; note every version that differs.',
    '3. Only when the trees are equal, look at the test itself: time, order, shared state.',
    '4. Say which of the three it was, and pin the cause with a test.',
    '',
    '**Anti-pattern:** adding a retry to a test before its cause is known.',
  ].join('\n'),
  reason: 'The user corrected the answer: dependency drift is to be ruled out before the test is blamed.',
};

const ANSWERS = [
  'Start with the test itself: look for shared state, for a dependence on the order of tests, and for real time.',
  'Understood. I rule out dependency drift first: a clean install from the lock file, then a comparison of the trees. After that the test.',
  'First a clean install from the lock file, then a comparison of both dependency trees; the test itself comes last, as in the notes for this conversation.',
];

interface ChatRequest {
  model: string;
  stream?: boolean;
  messages: { role: string; content: unknown }[];
}

export interface DemoModel {
  baseUrl: string;
  close(): Promise<void>;
}

/** A scripted model on loopback, so that the demo needs no network and no key. It labels itself in every answer. */
export async function startDemoModel(): Promise<DemoModel> {
  let turn = 0;
  const server = createServer((request, response) => {
    readJson(request).then(
      (body) => {
        if (body.model === DEMO_EVOLVER) reply(response, body, JSON.stringify([DEMO_SKILL]));
        else reply(response, body, `[demo model] ${ANSWERS[turn++ % ANSWERS.length]}`);
      },
      () => response.writeHead(400).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

async function readJson(request: IncomingMessage): Promise<ChatRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as ChatRequest;
}

function reply(response: ServerResponse, body: ChatRequest, text: string): void {
  const base = { id: 'chatcmpl-demo', created: 0, model: body.model };
  const usage = {
    prompt_tokens: Math.ceil(JSON.stringify(body.messages).length / 4),
    completion_tokens: Math.ceil(text.length / 4),
    total_tokens: Math.ceil((JSON.stringify(body.messages).length + text.length) / 4),
  };
  if (body.stream !== true) {
    response.writeHead(200, { 'content-type': 'application/json' });
    const message = { role: 'assistant', content: text };
    const choices = [{ index: 0, message, finish_reason: 'stop' }];
    response.end(JSON.stringify({ ...base, object: 'chat.completion', choices, usage }));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (delta: object, finish: string | null, extra: object = {}) => {
    const choices = [{ index: 0, delta, finish_reason: finish }];
    response.write(
      `data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', choices, ...extra })}\n\n`,
    );
  };
  send({ role: 'assistant', content: '' }, null);
  for (const word of text.split(/(?<= )/)) send({ content: word }, null);
  send({}, 'stop', { usage });
  response.end('data: [DONE]\n\n');
}
