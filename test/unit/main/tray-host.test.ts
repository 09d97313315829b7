import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { hasTrayHost } from '../../../src/main/tray-host.ts';

const open: { server: Server; sockets: Set<Socket> }[] = [];
const folders: string[] = [];

afterEach(async () => {
  for (const { server, sockets } of open.splice(0)) {
    for (const socket of sockets) socket.destroy();
    await new Promise((done) => server.close(done));
  }
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

function serve(on: (socket: Socket, data: Buffer) => void): Server {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('data', (data) => on(socket, data));
    socket.on('error', () => {});
  });
  open.push({ server, sockets });
  return server;
}

/** An X server that knows the tray's atom and says who owns its selection; answers byte by byte when `slow`. */
async function xServer(owner: number, slow = false): Promise<string> {
  const server = serve((socket, data) => {
    const send = (bytes: Buffer) => {
      if (!slow) return void socket.write(bytes);
      for (const byte of bytes) socket.write(Buffer.from([byte]));
    };
    const reply = Buffer.alloc(32);
    reply[0] = 1;
    if (data[0] === 0x6c) {
      const setup = Buffer.alloc(8 + 16);
      setup[0] = 1;
      setup.writeUInt16LE(4, 6);
      send(setup);
    } else if (data[0] === 16) {
      expect(data.subarray(8).toString('latin1')).toMatch(/^_NET_SYSTEM_TRAY_S0/);
      reply.writeUInt32LE(77, 8);
      send(reply);
    } else if (data[0] === 23) {
      expect(data.readUInt32LE(4)).toBe(77);
      reply.writeUInt32LE(owner, 8);
      send(reply);
    }
  });
  // X11 over TCP: display N listens on port 6000 + N.
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  return `127.0.0.1:${port - 6000}`;
}

/** A session bus on which a watcher answers whether it has a host, or where there is none. */
async function bus(host: boolean | 'no watcher'): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'metaclaw-bus-'));
  folders.push(folder);
  const path = join(folder, 'bus');
  const server = serve((socket, data) => {
    const text = data.toString('latin1');
    if (text.includes('AUTH EXTERNAL')) socket.write('OK 1234\r\n');
    if (!text.includes('IsStatusNotifierHostRegistered')) return;
    // The answer to Hello comes first and must be passed over.
    socket.write(message(2, 1, Buffer.from([4, 0, 0, 0, 0x3a, 0x31, 0x2e, 0x31, 0])));
    if (host === 'no watcher') socket.write(message(3, 2, Buffer.alloc(0)));
    else socket.write(message(2, 2, Buffer.from([1, 0x62, 0, 0, host ? 1 : 0, 0, 0, 0])));
  });
  await new Promise<void>((done) => server.listen(path, done));
  return `unix:path=${path},guid=abc`;
}

/** A D-Bus message with the reply serial as its only field. */
function message(type: number, replyTo: number, body: Buffer): Buffer {
  const head = Buffer.alloc(24);
  head.set([0x6c, type, 0, 1], 0);
  head.writeUInt32LE(body.length, 4);
  head.writeUInt32LE(9, 8);
  head.writeUInt32LE(8, 12);
  head.set([5, 1, 0x75, 0], 16);
  head.writeUInt32LE(replyTo, 20);
  return Buffer.concat([head, body]);
}

// Would catch an owner that is read from the wrong place of the reply.
test('an X11 tray is there when its selection has an owner', async () => {
  expect(await hasTrayHost('linux', { DISPLAY: await xServer(0x400001) })).toBe(true);
  expect(await hasTrayHost('linux', { DISPLAY: await xServer(0x400001, true) })).toBe(true);
  expect(await hasTrayHost('linux', { DISPLAY: await xServer(0) })).toBe(false);
});

// Would catch a watcher without a host (GNOME without its extension) that counts as a tray.
test('a StatusNotifier tray is there when its watcher has a host', async () => {
  expect(await hasTrayHost('linux', { DBUS_SESSION_BUS_ADDRESS: await bus(true) })).toBe(true);
  expect(await hasTrayHost('linux', { DBUS_SESSION_BUS_ADDRESS: await bus(false) })).toBe(false);
  expect(await hasTrayHost('linux', { DBUS_SESSION_BUS_ADDRESS: await bus('no watcher') })).toBe(false);
});

// Would catch a start that hangs, or a crash, on a desktop that does not answer.
test('no answer counts as no tray', async () => {
  const silent = serve(() => {});
  await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done));
  const { port } = silent.address() as { port: number };
  const began = Date.now();
  expect(await hasTrayHost('linux', { DISPLAY: `127.0.0.1:${port - 6000}` })).toBe(false);
  expect(Date.now() - began).toBeLessThan(3000);
  expect(await hasTrayHost('linux', {})).toBe(false);
  expect(
    await hasTrayHost('linux', { DISPLAY: 'nonsense', DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere' }),
  ).toBe(false);
  expect(await hasTrayHost('darwin', {})).toBe(true);
});
