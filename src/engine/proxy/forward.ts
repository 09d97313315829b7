import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Route, Upstream } from '../upstream/index.ts';
import { clientHeaders, headerText, upstreamHeaders } from './headers.ts';

export interface ForwardCall {
  request: IncomingMessage;
  response: ServerResponse;
  /** Below the provider's base URL, with query. */
  path: string;
  requestId: string;
}

/**
 * Passes a call on that MetaClaw has no opinion about (embeddings, files, audio, whatever comes): any method, both
 * bodies streamed and unchanged. Rejects with AppError when no answer came.
 */
export async function forward(upstream: Upstream, route: Route, call: ForwardCall): Promise<void> {
  const { request, response } = call;
  const abort = new AbortController();
  response.on('close', () => {
    if (!response.writableFinished) abort.abort();
  });
  const headers = upstreamHeaders(request.headers, route.passthrough);
  for (const name of ['content-length', 'content-encoding', 'accept-encoding'] as const) {
    const value = request.headers[name];
    if (value !== undefined) headers[name] = value;
  }
  const hasBody =
    request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined;
  const reply = await upstream.send(route, {
    path: call.path,
    method: request.method ?? 'GET',
    headers,
    body: hasBody ? request : null,
    signal: abort.signal,
  });
  if (response.destroyed) {
    reply.body.abort();
    return;
  }
  response.writeHead(reply.status, {
    'x-request-id': call.requestId,
    ...clientHeaders(reply.headers, 'same-bytes'),
    'x-metaclaw-upstream': headerText(route.name),
  });
  response.flushHeaders();
  await new Promise<void>((resolve) => {
    response.on('close', resolve);
    response.on('drain', () => reply.body.resume());
    reply.body.pipe({
      data: (chunk) => response.write(chunk),
      end: () => response.end(),
      // The head is out: cutting the connection is the only honest way to say that the rest is missing.
      fail: () => response.destroy(),
    });
  });
}
