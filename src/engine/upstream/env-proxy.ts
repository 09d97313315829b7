import { BlockList, isIP } from 'node:net';
import { AppError } from '../../shared/errors.ts';
import { isLocalUrl } from './address.ts';

export type Env = Readonly<Record<string, string | undefined>>;

/**
 * The proxy that the environment names for an origin, or null. Small letters win over capitals, as with curl; this
 * machine is never reached through a proxy, whatever the environment says. Throws CONFIG_INVALID for a proxy of a
 * kind that cannot be used: going round it would send requests where the user did not want them.
 */
export function envProxyFor(origin: string, env: Env): string | null {
  if (isLocalUrl(origin)) return null;
  const { protocol } = new URL(origin);
  const names = protocol === 'https:' ? ['https_proxy', 'all_proxy'] : ['http_proxy', 'all_proxy'];
  for (const name of names) {
    const value = read(env, name);
    if (value === '') continue;
    if (isExempt(origin, read(env, 'no_proxy'))) return null;
    return usable(value, name.toUpperCase());
  }
  return null;
}

function read(env: Env, name: string): string {
  return (env[name] ?? env[name.toUpperCase()] ?? '').trim();
}

function usable(value: string, name: string): string {
  const url = value.includes('://') ? value : `http://${value}`;
  if (/^https?:\/\/[^/]/i.test(url) && isAddress(url)) return url;
  throw new AppError('CONFIG_INVALID', `The proxy that ${name} names cannot be used here.`, {
    hint: 'Name an http:// or https:// proxy, or list the provider’s host in NO_PROXY.',
  });
}

/** `URL.canParse` is younger than the oldest runtime. */
function isAddress(text: string): boolean {
  try {
    return new URL(text).hostname !== '';
  } catch {
    return false;
  }
}

/** `NO_PROXY`: names (with their subdomains), `host:port`, addresses, IPv4 ranges, `*`. */
function isExempt(origin: string, list: string): boolean {
  const url = new URL(origin);
  const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase();
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true;
      if (entry.includes('/')) return inRange(host, entry);
      const [, name = '', only] =
        /^\[?(.*?)\]?(?::(\d+))?$/.exec(isIP(entry) === 6 ? `[${entry}]` : entry) ?? [];
      if (only !== undefined && only !== port) return false;
      const bare = name.replace(/^\*?\./, '');
      return host === bare || (isIP(host) === 0 && host.endsWith(`.${bare}`));
    });
}

function inRange(host: string, range: string): boolean {
  const [net = '', bits = ''] = range.split('/');
  const family = isIP(net) === 6 ? 'ipv6' : 'ipv4';
  const size = Number(bits);
  if (isIP(net) === 0 || isIP(host) !== isIP(net) || !(size >= 0 && size <= (family === 'ipv6' ? 128 : 32)))
    return false;
  const block = new BlockList();
  block.addSubnet(net, size, family);
  return block.check(host, family);
}
