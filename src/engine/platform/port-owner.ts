import { readdir, readFile, readlink } from 'node:fs/promises';
import { x } from 'tinyexec';

export interface PortOwner {
  pid: number;
  name: string;
}

/** Which process listens on a TCP port of this machine; null when that cannot be found out. Never throws. */
export async function findPortOwner(port: number): Promise<PortOwner | null> {
  try {
    if (process.platform === 'linux') return await fromProc(port);
    return process.platform === 'win32' ? await fromNetstat(port) : await fromLsof(port);
  } catch {
    // No rights, or no such tool: the caller says that the owner is unknown.
    return null;
  }
}

async function fromProc(port: number): Promise<PortOwner | null> {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  const inodes = new Set<string>();
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    const lines = await readFile(table, 'utf8').catch(() => '');
    for (const line of lines.split('\n')) {
      const fields = line.trim().split(/\s+/);
      // Field 1 is the local address, field 3 the state (0A: listening), field 9 the socket's inode.
      if (fields[1]?.endsWith(`:${hex}`) && fields[3] === '0A' && fields[9])
        inodes.add(`socket:[${fields[9]}]`);
    }
  }
  if (inodes.size === 0) return null;
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const descriptors = await readdir(`/proc/${entry}/fd`).catch(() => []);
    for (const descriptor of descriptors) {
      const target = await readlink(`/proc/${entry}/fd/${descriptor}`).catch(() => '');
      if (!inodes.has(target)) continue;
      const name = await readFile(`/proc/${entry}/comm`, 'utf8').catch(() => '');
      return { pid: Number(entry), name: name.trim() || 'unknown' };
    }
  }
  return null;
}

async function fromLsof(port: number): Promise<PortOwner | null> {
  const { stdout } = await x('lsof', ['-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-Fpc'], { timeout: 3000 });
  const pid = /^p(\d+)$/m.exec(stdout)?.[1];
  return pid ? { pid: Number(pid), name: /^c(.+)$/m.exec(stdout)?.[1] ?? 'unknown' } : null;
}

async function fromNetstat(port: number): Promise<PortOwner | null> {
  const { stdout } = await x('netstat', ['-ano', '-p', 'TCP'], { timeout: 3000 });
  const pid = new RegExp(`:${port}\\s+\\S+\\s+LISTENING\\s+(\\d+)`).exec(stdout)?.[1];
  if (!pid) return null;
  const list = await x('tasklist', ['/FI', `PID eq ${pid}`, '/FO', 'CSV', '/NH'], { timeout: 3000 });
  return { pid: Number(pid), name: /^"([^"]+)"/.exec(list.stdout.trim())?.[1] ?? 'unknown' };
}
