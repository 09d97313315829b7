/** The URL by which this computer reaches what listens there; an address for every network includes loopback. */
export function localUrl({ host, port }: { host: string; port: number }): string {
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}
