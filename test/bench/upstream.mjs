// @ts-check
// A provider that answers at once, from ready bytes. Prints its port.
import { createServer } from 'node:http';

const whole = Buffer.from(
  JSON.stringify({
    id: 'chatcmpl-bench',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'bench-model',
    choices: [{ index: 0, message: { role: 'assistant', content: 'x'.repeat(1000) }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 },
  }),
);

/**
 * @param {object} delta
 * @param {string | null} reason
 */
function chunk(delta, reason = null) {
  const choices = [{ index: 0, delta, finish_reason: reason }];
  return `data: ${JSON.stringify({ id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1, model: 'bench-model', choices })}\n\n`;
}
const streamed = Buffer.from(
  [
    chunk({ role: 'assistant', content: '' }),
    ...Array.from({ length: 50 }, () => chunk({ content: 'twenty characters ok' })),
    chunk({}, 'stop'),
    'data: [DONE]\n\n',
  ].join(''),
);

const server = createServer((request, response) => {
  /** @type {Buffer[]} */
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', () => {
    const isStream = Buffer.concat(parts).includes('"stream":true');
    const body = isStream ? streamed : whole;
    response.writeHead(200, {
      'content-type': isStream ? 'text/event-stream' : 'application/json',
      ...(isStream ? {} : { 'content-length': body.length }),
    });
    response.end(body);
  });
});
server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(`${typeof address === 'object' ? address?.port : ''}\n`);
});
