import { AppError, messageOf } from '../../shared/errors.ts';

type FailureKind = 'dns' | 'refused' | 'tls' | 'timeout' | 'reset' | 'cancelled' | 'other';

export interface Failure {
  kind: FailureKind;
  /** One sentence that names host and port. */
  message: string;
  /** The one thing to do about it. */
  fix: string;
}

/** A request that failed on its way through a proxy of the environment. */
export class ProxyTrouble extends Error {
  readonly proxy: string;

  constructor(proxy: string, cause: unknown) {
    super(messageOf(cause), { cause });
    this.proxy = proxy;
  }
}

const TLS_CODES =
  /^(?:CERT_|ERR_TLS|ERR_SSL|EPROTO$|DEPTH_ZERO_SELF_SIGNED_CERT$|SELF_SIGNED_CERT|UNABLE_TO_(?:VERIFY|GET_ISSUER)|HOSTNAME_MISMATCH$)/;

/** Says what kept us from an answer, from whatever the HTTP client threw. */
export function explainFailure(error: unknown, address: string): Failure {
  const codes = codesOf(error);
  const where = hostPort(address);
  const has = (...names: string[]) => codes.some((code) => names.includes(code));
  if (error instanceof ProxyTrouble && isProxysFault(error, codes))
    return {
      kind: 'refused',
      message: `The proxy ${hostPort(error.proxy)} did not lead to ${where}: ${messageOf(error)}`,
      fix: 'Check HTTPS_PROXY and HTTP_PROXY, or list the host in NO_PROXY.',
    };
  if (has('UND_ERR_ABORTED'))
    return { kind: 'cancelled', message: `The request to ${where} was cancelled.`, fix: 'Try again.' };
  if (has('ENOTFOUND', 'EAI_AGAIN', 'EAI_NODATA', 'EAI_NONAME'))
    return {
      kind: 'dns',
      message: `The name of ${where} could not be resolved.`,
      fix: 'Check the spelling of the address and that this computer is online.',
    };
  if (codes.some((code) => TLS_CODES.test(code)))
    return {
      kind: 'tls',
      message: `No secure connection to ${where}: ${messageOf(error)}`,
      fix: address.startsWith('https:')
        ? 'Check that the address should begin with https://, and that the certificate is trusted on this computer.'
        : 'Begin the address with https://.',
    };
  if (has('ECONNREFUSED'))
    return {
      kind: 'refused',
      message: `Nothing answers at ${where}: the connection was refused.`,
      fix: 'Start the server at that address, or correct the port.',
    };
  if (has('UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'))
    return {
      kind: 'timeout',
      message: `${where} did not answer in time.`,
      fix: 'Check that the address can be reached from this network, then try again.',
    };
  if (has('ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'))
    return {
      kind: 'reset',
      message: `${where} closed the connection without a full answer.`,
      fix: 'Try again; if it stays so, look at the log of the server at that address.',
    };
  return {
    kind: 'other',
    message: `The request to ${where} failed: ${messageOf(error) || codes.join(', ')}`,
    fix: 'Check the address and the network.',
  };
}

/** The provider is never dialled from here then: a connection that does not come about is the proxy's. */
function isProxysFault(error: Error, codes: readonly string[]): boolean {
  const connecting = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT'];
  return codes.some((code) => connecting.includes(code)) || /HTTP Tunneling|proxy/i.test(error.message);
}

/** The failure as the error that callers of the engine get. */
export function failureError(error: unknown, address: string): AppError {
  if (error instanceof AppError) return error;
  const failure = explainFailure(error, address);
  const code =
    failure.kind === 'timeout'
      ? 'UPSTREAM_TIMEOUT'
      : failure.kind === 'cancelled'
        ? 'CANCELLED'
        : 'UPSTREAM_UNREACHABLE';
  return new AppError(code, failure.message, { hint: failure.fix, cause: error });
}

/** `host:port` of an address, with the port that its scheme implies. */
export function hostPort(address: string): string {
  try {
    const url = new URL(address);
    return `${url.hostname}:${url.port || (url.protocol === 'https:' ? '443' : '80')}`;
  } catch {
    return address;
  }
}

function codesOf(error: unknown): string[] {
  const codes: string[] = [];
  const visit = (value: unknown, depth: number): void => {
    if (typeof value !== 'object' || value === null || depth > 3) return;
    const { code, cause, errors } = value as { code?: unknown; cause?: unknown; errors?: unknown };
    if (typeof code === 'string') codes.push(code);
    if (Array.isArray(errors)) for (const inner of errors) visit(inner, depth + 1);
    visit(cause, depth + 1);
  };
  visit(error, 0);
  return codes;
}
