import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { homedir, hostname } from 'node:os';
import { join } from 'node:path';

type Env = Readonly<Record<string, string | undefined>>;

/** Longest wait for a desktop that does not answer. */
const PATIENCE_MS = 800;

/**
 * Says whether the desktop shows tray icons. Elsewhere than on Linux it always does. On Linux a window that hides
 * without a tray cannot be found again, so the two kinds of hosts are asked for: a StatusNotifier host on the session
 * bus, and the owner of the X11 tray selection. No answer counts as none.
 */
export async function hasTrayHost(platform: string, env: Env): Promise<boolean> {
  if (platform !== 'linux') return true;
  const answers = await Promise.all(
    [hasNotifierHost(env), hasXembedHost(env)].map((asked) => asked.catch(() => false)),
  );
  return answers.includes(true);
}

// ---- X11 (X Window System Protocol, version 11): setup, InternAtom, GetSelectionOwner ----

async function hasXembedHost(env: Env): Promise<boolean> {
  const match = /^(.*):(\d+)(?:\.(\d+))?$/.exec(env.DISPLAY ?? '');
  if (match === null) return false;
  const [, host = '', display = '0', screen = '0'] = match;
  const isLocal = host === '' || host === 'unix';
  const socket = isLocal ? connect(`/tmp/.X11-unix/X${display}`) : connect(6000 + Number(display), host);
  return withSocket(socket, async (stream) => {
    const cookie = await xCookie(env, display);
    const name = cookie === null ? '' : 'MIT-MAGIC-COOKIE-1';
    const data = cookie ?? Buffer.alloc(0);
    const hello = Buffer.alloc(12);
    hello.write('l', 0, 'latin1');
    hello.writeUInt16LE(11, 2);
    hello.writeUInt16LE(name.length, 6);
    hello.writeUInt16LE(data.length, 8);
    socket.write(Buffer.concat([hello, pad4(Buffer.from(name, 'latin1')), pad4(data)]));
    const head = await stream.read(8);
    if (head[0] !== 1) return false;
    await stream.read(head.readUInt16LE(6) * 4);
    const atomName = Buffer.from(`_NET_SYSTEM_TRAY_S${screen}`, 'latin1');
    const intern = Buffer.alloc(8);
    intern.writeUInt8(16, 0);
    intern.writeUInt8(1, 1);
    intern.writeUInt16LE(2 + Math.ceil(atomName.length / 4), 2);
    intern.writeUInt16LE(atomName.length, 4);
    socket.write(Buffer.concat([intern, pad4(atomName)]));
    const atom = (await stream.read(32)).readUInt32LE(8);
    // The name was never used: nobody can own it.
    if (atom === 0) return false;
    const owner = Buffer.alloc(8);
    owner.writeUInt8(23, 0);
    owner.writeUInt16LE(2, 2);
    owner.writeUInt32LE(atom, 4);
    socket.write(owner);
    return (await stream.read(32)).readUInt32LE(8) !== 0;
  });
}

/** The cookie for a display from the X authority file: entries of family, address, number, name and data. */
async function xCookie(env: Env, display: string): Promise<Buffer | null> {
  let file: Buffer;
  try {
    file = await readFile(env.XAUTHORITY ?? join(homedir(), '.Xauthority'));
  } catch {
    return null;
  }
  let at = 0;
  const field = () => {
    const length = file.readUInt16BE(at);
    const value = file.subarray(at + 2, at + 2 + length);
    at += 2 + length;
    return value;
  };
  while (at + 10 <= file.length) {
    const family = file.readUInt16BE(at);
    at += 2;
    const address = field().toString('latin1');
    const number = field().toString('latin1');
    const name = field().toString('latin1');
    const data = field();
    const isHere = family === 0xffff || address === hostname();
    if (isHere && (number === '' || number === display) && name === 'MIT-MAGIC-COOKIE-1') return data;
  }
  return null;
}

// ---- D-Bus (D-Bus Specification 0.43): EXTERNAL, Hello, Properties.Get ----

const WATCHER = 'org.kde.StatusNotifierWatcher';

async function hasNotifierHost(env: Env): Promise<boolean> {
  const path = busPath(env);
  if (path === null) return false;
  const socket = connect(path);
  return withSocket(socket, async (stream) => {
    const uid = Buffer.from(String(process.getuid?.() ?? 0), 'latin1').toString('hex');
    socket.write(`\0AUTH EXTERNAL ${uid}\r\n`);
    if (!(await stream.line()).startsWith('OK')) return false;
    socket.write('BEGIN\r\n');
    socket.write(
      methodCall(1, 'org.freedesktop.DBus', '/org/freedesktop/DBus', 'org.freedesktop.DBus', 'Hello', []),
    );
    socket.write(
      methodCall(2, WATCHER, '/StatusNotifierWatcher', 'org.freedesktop.DBus.Properties', 'Get', [
        WATCHER,
        'IsStatusNotifierHostRegistered',
      ]),
    );
    for (;;) {
      const { type, replyTo, body } = await readMessage(stream);
      if (replyTo !== 2) continue;
      // A variant of a boolean: signature "b", then four bytes. An error means that there is no watcher.
      return type === 2 && body.length >= 8 && body.readUInt32LE(4) === 1;
    }
  });
}

/** A path socket of the session bus; abstract ones cannot be opened by Node. */
function busPath(env: Env): string | null {
  for (const address of (env.DBUS_SESSION_BUS_ADDRESS ?? '').split(';')) {
    const match = /^unix:(?:.*,)?path=([^,]+)/.exec(address);
    if (match?.[1] !== undefined) return decodeURIComponent(match[1]);
  }
  return env.XDG_RUNTIME_DIR === undefined ? null : join(env.XDG_RUNTIME_DIR, 'bus');
}

function methodCall(
  serial: number,
  destination: string,
  path: string,
  face: string,
  member: string,
  args: readonly string[],
): Buffer {
  const body = new Writer();
  for (const arg of args) body.string(arg);
  const fields = new Writer();
  fields.field(1, 'o', path);
  fields.field(2, 's', face);
  fields.field(3, 's', member);
  fields.field(6, 's', destination);
  if (args.length > 0) fields.signatureField(8, 's'.repeat(args.length));
  const head = Buffer.alloc(16);
  // Little endian, method call, no flags, protocol 1.
  head.set([0x6c, 1, 0, 1], 0);
  head.writeUInt32LE(body.bytes.length, 4);
  head.writeUInt32LE(serial, 8);
  head.writeUInt32LE(fields.bytes.length, 12);
  return Buffer.concat([pad(Buffer.concat([head, fields.bytes]), 8), body.bytes]);
}

async function readMessage(stream: Reader): Promise<{ type: number; replyTo: number; body: Buffer }> {
  const head = await stream.read(16);
  const fieldsLength = head.readUInt32LE(12);
  const fields = await stream.read(Math.ceil(fieldsLength / 8) * 8);
  const body = await stream.read(head.readUInt32LE(4));
  return { type: head[1] ?? 0, replyTo: replySerial(fields.subarray(0, fieldsLength)), body };
}

/** Field 5 of a header, the serial that a reply answers; 0 when absent. */
function replySerial(fields: Buffer): number {
  let at = 0;
  while (at + 4 < fields.length) {
    at = Math.ceil(at / 8) * 8;
    const code = fields[at];
    const signatureLength = fields[at + 1] ?? 0;
    const signature = fields.toString('latin1', at + 2, at + 2 + signatureLength);
    at += 3 + signatureLength;
    if (signature === 'u') {
      at = Math.ceil(at / 4) * 4;
      if (code === 5) return fields.readUInt32LE(at);
      at += 4;
    } else if (signature === 'g') {
      at += 2 + (fields[at] ?? 0);
    } else {
      at = Math.ceil(at / 4) * 4;
      at += 5 + fields.readUInt32LE(at);
    }
  }
  return 0;
}

class Writer {
  bytes: Buffer = Buffer.alloc(0);

  string(text: string): void {
    const data = Buffer.from(text, 'utf8');
    const length = Buffer.alloc(4);
    length.writeUInt32LE(data.length, 0);
    this.bytes = Buffer.concat([pad(this.bytes, 4), length, data, Buffer.alloc(1)]);
  }

  field(code: number, type: 's' | 'o', value: string): void {
    this.bytes = Buffer.concat([pad(this.bytes, 8), Buffer.from([code, 1, type.charCodeAt(0), 0])]);
    this.string(value);
  }

  signatureField(code: number, value: string): void {
    const signature = Buffer.from([code, 1, 'g'.charCodeAt(0), 0, value.length]);
    this.bytes = Buffer.concat([
      pad(this.bytes, 8),
      signature,
      Buffer.from(value, 'latin1'),
      Buffer.alloc(1),
    ]);
  }
}

// ---- both ----

interface Reader {
  read(length: number): Promise<Buffer>;
  line(): Promise<string>;
}

/** Runs a short dialogue and ends it; a socket that fails, ends or stays silent rejects. */
async function withSocket<T>(socket: Socket, talk: (stream: Reader) => Promise<T>): Promise<T> {
  let buffered = Buffer.alloc(0);
  let wake: () => void = () => {};
  let failure: Error | null = null;
  const fail = (error: Error) => {
    failure ??= error;
    wake();
  };
  socket.setTimeout(PATIENCE_MS, () => fail(new Error('no answer')));
  socket.on('error', fail);
  socket.on('close', () => fail(new Error('closed')));
  socket.on('data', (data) => {
    buffered = Buffer.concat([buffered, data]);
    wake();
  });
  const until = async <R>(take: () => R | null): Promise<R> => {
    for (;;) {
      const taken = take();
      if (taken !== null) return taken;
      if (failure !== null) throw failure;
      await new Promise<void>((done) => {
        wake = done;
      });
    }
  };
  const take = (length: number) => {
    if (buffered.length < length) return null;
    const taken = buffered.subarray(0, length);
    buffered = buffered.subarray(length);
    return taken;
  };
  try {
    return await talk({
      read: (length) => until(() => take(length)),
      line: () =>
        until(() => {
          const end = buffered.indexOf('\r\n');
          return end === -1 ? null : (take(end + 2)?.toString('latin1') ?? null);
        }),
    });
  } finally {
    socket.destroy();
  }
}

function pad(bytes: Buffer, to: number): Buffer {
  const missing = (to - (bytes.length % to)) % to;
  return missing === 0 ? bytes : Buffer.concat([bytes, Buffer.alloc(missing)]);
}

function pad4(bytes: Buffer): Buffer {
  return pad(bytes, 4);
}
