import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { AppError } from '../../shared/errors.ts';
import type { Dialect } from '../../shared/model.ts';
import { clientStatus, errorBody, errorType } from './translate/errors.ts';
import type { WireError } from './translate/types.ts';

/**
 * Sends an error in the shape that clients of the dialect read; does nothing once an answer has begun. The connection
 * stays until `read` resolves: one that closes on a client that still sends takes the answer with it.
 */
export function answerError(
  response: ServerResponse,
  dialect: Dialect,
  status: number,
  error: WireError,
  requestId: string,
  headers: OutgoingHttpHeaders = {},
  read: Promise<void> | null = null,
): void {
  if (response.headersSent || response.destroyed) return;
  const shown = clientStatus(dialect, status);
  const body = Buffer.from(JSON.stringify(errorBody(dialect, status, error, requestId)));
  response.writeHead(shown, {
    ...headers,
    'content-type': 'application/json',
    'content-length': body.length,
    'x-request-id': requestId,
    ...(dialect === 'anthropic' ? { 'request-id': requestId } : {}),
  });
  if (read === null) response.end(body);
  else {
    response.write(body);
    void read.then(() => response.end());
  }
}

/** An error of ours as clients see it. A provider that is not set up is the caller's matter, not an outage to retry. */
export function wireErrorOf(error: AppError): WireError & { status: number } {
  const status = error.code === 'PROVIDER_NOT_SET' ? 400 : error.status;
  // Words of others that ours end with may be no sentence.
  const words = /[.!?:)…]$/.test(error.message) ? error.message : `${error.message}.`;
  const message = error.hint === undefined ? error.message : `${words} ${error.hint}`;
  return {
    status,
    type: errorType(status),
    message,
    param: error.field ?? null,
    code: error.code.toLowerCase(),
  };
}

/** The same for anything that was thrown; what is unexpected gets a reference instead of its own words. */
export function wireErrorOfAny(error: unknown, requestId: string): WireError & { status: number } {
  if (error instanceof AppError) return wireErrorOf(error);
  return {
    status: 500,
    type: errorType(500),
    message: `Something went wrong inside MetaClaw; the log has the details under ${requestId}.`,
  };
}
