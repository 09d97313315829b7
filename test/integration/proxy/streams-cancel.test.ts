import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ask, PAIRS, WIRES, type Wire } from '../../support/ask.ts';
import { type ProxyLab, startProxyLab } from '../../support/proxy.ts';
import { errorReply } from '../../support/upstream.ts';

const labs = {} as Record<Wire, ProxyLab>;
const sockets: Socket[] = [];
beforeAll(async () => {
  for (const wire of WIRES) labs[wire] = await startProxyLab({ wire });
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const lab of Object.values(labs)) {
    expect(lab.errors).toEqual([]);
    lab.upstream.reset();
  }
});
afterAll(async () => {
  for (const lab of Object.values(labs)) await lab.close();
});

function open(port: number, bytes: Buffer): Socket {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write(bytes);
  sockets.push(socket);
  return socket;
}

async function until(check: () => boolean): Promise<void> {
  const end = Date.now() + 2000;
  while (!check() && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(check()).toBe(true);
}

describe.each(PAIRS)('S45, %s client, %s upstream', (client, wire) => {
  const lab = () => labs[wire];
  const lastStatus = () => lab().sessions.list({ limit: 1 }).turns[0]?.status;

  it.each([
    [true, 'before the head', null],
    [true, 'before the first event', ''],
    [true, 'in the middle', ': x\n\n'],
    [false, 'before the head', null],
    [false, 'in the middle', '{"id":'],
  ])(
    'stream %s: a client that leaves %s takes the provider along within a second',
    async (stream, _, bytes) => {
      for (const leave of ['destroy', 'end'] as const) {
        lab().upstream.reply((_request, response) => {
          if (bytes === null) return;
          response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
          response.flushHeaders();
          if (bytes !== '') response.write(bytes);
        });
        const socket = open(lab().port, ask(client, stream));
        await lab().upstream.until(({ requests }) => requests.at(-1)?.state === 'open');
        socket[leave]();
        await lab().upstream.until((upstream) => upstream.last.state === 'caller-left', 1000);
        await until(() => lastStatus() === 'aborted');
      }
    },
  );

  it('nobody is asked again for a client that left while an overloaded provider was waited for', async () => {
    lab().upstream.script(() => errorReply(529, wire === 'anthropic', 'overloaded_error', 'busy'));
    const socket = open(lab().port, ask(client));
    await lab().upstream.until((upstream) => upstream.requests[0]?.state === 'answered');
    socket.destroy();
    await until(() => lastStatus() === 'aborted' && lab().proxy.activeTurns().length === 0);
    const asked = lab().upstream.requests.length;
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(lab().upstream.requests).toHaveLength(asked);
  });

  it('a request that never arrives whole is no turn', async () => {
    const before = lab().sessions.list({ limit: 1 }).turns[0]?.id;
    const socket = open(lab().port, ask(client).subarray(0, -5));
    await new Promise((resolve) => setTimeout(resolve, 30));
    socket.destroy();
    await until(() => lab().proxy.activeTurns().length === 0);
    expect(lab().upstream.requests).toEqual([]);
    expect(lab().sessions.list({ limit: 1 }).turns[0]?.id).toBe(before);
  });
});
