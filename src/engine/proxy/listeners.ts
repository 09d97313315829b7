import type { Config } from '../../shared/config.ts';
import { listenAddress } from '../../shared/config-rules.ts';
import type { Listener } from '../platform/guard.ts';

export interface PlannedListener extends Listener {
  /** Takes the port that the first listener got. */
  follows: boolean;
  /** Nice to have: failing to listen there is no failure. */
  optional: boolean;
}

/**
 * Where to listen. An address that other machines reach needs a key; without one it becomes loopback and the warnings
 * say so (R139). Further listeners need a key of their own and the user's consent.
 */
export function planListeners(config: Config): { listeners: PlannedListener[]; warnings: string[] } {
  const { proxy } = config;
  const { host, warning } = listenAddress(config);
  const warnings = warning === null ? [] : [warning];
  const listeners: PlannedListener[] = [
    { host, port: proxy.port, ownKey: null, follows: false, optional: false },
  ];
  // Programs that resolve localhost to ::1 first find the proxy too.
  if (host === '127.0.0.1')
    listeners.push({ host: '::1', port: proxy.port, ownKey: null, follows: true, optional: true });
  for (const extra of proxy.listeners) {
    const where = `${extra.host}:${extra.port}`;
    if (!extra.api_key || extra.consent !== true)
      warnings.push(`proxy.listeners: ${where} is not opened; it needs an api_key and consent: true.`);
    else
      listeners.push({
        host: extra.host,
        port: extra.port,
        ownKey: extra.api_key,
        follows: false,
        optional: false,
      });
  }
  return { listeners, warnings };
}
