import { post } from './raw.ts';

export type Wire = 'openai' | 'anthropic' | 'responses';

export const WIRES = ['openai', 'anthropic', 'responses'] as const;
export const PAIRS = WIRES.flatMap((client) => WIRES.map((wire) => [client, wire] as const));
/** What stands in a stream of each dialect while there is nothing to say. */
export const BEAT: Readonly<Record<Wire, string>> = {
  openai: ': keep-alive\n\n',
  anthropic: 'event: ping\ndata: {"type":"ping"}\n\n',
  responses: ': keep-alive\n\n',
};

const PATHS: Readonly<Record<Wire, string>> = {
  openai: '/v1/chat/completions',
  anthropic: '/v1/messages',
  responses: '/v1/responses',
};

/** A small request of a client of the dialect, as bytes for a socket. */
export function ask(client: Wire, stream = true, extra: object = {}): Buffer {
  const said = { role: 'user', content: 'tell me' };
  const body = client === 'responses' ? { input: [said] } : { max_tokens: 100, messages: [said] };
  const headers: Record<string, string> = client === 'anthropic' ? { 'anthropic-version': '2023-06-01' } : {};
  return post(PATHS[client], JSON.stringify({ model: 'served', stream, ...body, ...extra }), headers);
}
