import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const WORDS: Readonly<Record<string, readonly [status: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The request headers are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request took too long to arrive.'],
};
const BROKEN = ['400 Bad Request', 'This is not a valid HTTP request.'] as const;

/**
 * Answers what never became a request: broken, too large or too slow. Nobody knows its dialect, so the error is one
 * that clients of both vendors can read. For a server's `clientError`.
 */
export function refuseBrokenRequest(error: NodeJS.ErrnoException, socket: Socket, requestId: string): void {
  // An answer that has begun on this connection must not get another one into its middle.
  const { _httpMessage: running } = socket as Socket & { _httpMessage?: ServerResponse | null };
  if (error.code === 'ECONNRESET' || !socket.writable || running?.headersSent === true) {
    socket.destroy();
    return;
  }
  const [status, message] = WORDS[error.code ?? ''] ?? BROKEN;
  const body = JSON.stringify({
    type: 'error',
    error: { message, type: 'invalid_request_error', param: null, code: null },
    request_id: requestId,
  });
  const head = [
    `HTTP/1.1 ${status}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
