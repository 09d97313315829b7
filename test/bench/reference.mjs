// @ts-check
// What a proxy costs at the least: node:http in front, undici behind, bytes through. It is the yardstick of every ratio,
// so that a change here is a change of the goal. Prints its port.
import { createServer } from 'node:http';
import { Pool } from 'undici';

const pool = new Pool(process.argv[2] ?? '', { connections: 256, headersTimeout: 0, bodyTimeout: 0 });
const HOP = new Set(['connection', 'keep-alive', 'transfer-encoding', 'host']);

const server = createServer((request, response) => {
  /** @type {Record<string, string | string[]>} */
  const headers = {};
  for (const [name, value] of Object.entries(request.headers))
    if (!HOP.has(name) && value !== undefined) headers[name] = value;
  pool
    .stream({ path: request.url ?? '/', method: 'POST', headers, body: request }, (reply) => {
      for (const name of HOP) delete reply.headers[name];
      response.writeHead(
        reply.statusCode,
        /** @type {import('node:http').OutgoingHttpHeaders} */ (reply.headers),
      );
      return response;
    })
    .catch(() => response.destroy());
});
server.keepAliveTimeout = 120_000;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(`${typeof address === 'object' ? address?.port : ''}\n`);
});
