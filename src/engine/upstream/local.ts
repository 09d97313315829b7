import type { LocalServer } from '../../shared/contract.ts';
import type { Clock } from '../ports.ts';
import type { Connections } from './exchange.ts';
import { presetOf } from './presets.ts';

/** Port by preset id. */
export interface LocalPorts {
  ollama: number;
  lmstudio: number;
  llamacpp: number;
  vllm: number;
}

const USUAL: LocalPorts = { ollama: 11434, lmstudio: 1234, llamacpp: 8080, vllm: 8000 };
const PATIENCE_MS = 800;

/** Asks the usual ports of this computer for a model list; what does not answer like a model server is left out. */
export async function findLocalServers(
  clock: Clock,
  connections: Connections,
  ports: Partial<LocalPorts> = {},
): Promise<LocalServer[]> {
  const found = await Promise.all(
    Object.entries({ ...USUAL, ...ports }).map(async ([preset, port]) => {
      const origin = `http://127.0.0.1:${port}`;
      const models = await listModels(clock, connections, origin);
      return models && { preset, name: presetOf(preset).name, baseUrl: `${origin}/v1`, models };
    }),
  );
  return found.filter((server) => server !== null);
}

async function listModels(clock: Clock, connections: Connections, origin: string): Promise<string[] | null> {
  const abort = new AbortController();
  const cancel = clock.after(PATIENCE_MS, () => abort.abort());
  try {
    const reply = await connections.send({
      origin,
      path: '/v1/models',
      method: 'GET',
      headers: { accept: 'application/json' },
      body: null,
      signal: abort.signal,
    });
    const body = JSON.parse((await reply.body.bytes(4 * 1024 * 1024)).toString('utf8')) as { data?: unknown };
    if (reply.status !== 200 || !Array.isArray(body.data)) return null;
    return body.data.flatMap((model: { id?: unknown }) => (typeof model?.id === 'string' ? [model.id] : []));
  } catch {
    // Nothing there, or something else than a model server: both mean "not found".
    return null;
  } finally {
    cancel();
  }
}
