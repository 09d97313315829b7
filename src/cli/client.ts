import { readFileSync } from 'node:fs';
import { createParser } from 'eventsource-parser';
import { type RuntimeInfo, readHost } from '../engine/platform/lock.ts';
import { statePaths } from '../engine/platform/paths.ts';
import type { Call, EventName, Events, Reply, RouteOutput } from '../shared/contract.ts';
import { AppError, messageOf } from '../shared/errors.ts';

/** The running host as another process sees it. */
export interface HostClient {
  readonly info: RuntimeInfo;
  readonly call: Call;
  /** Passes the host's events on until `signal` aborts or the host ends. */
  events(
    signal: AbortSignal,
    on: <Name extends EventName>(name: Name, payload: Events[Name]) => void,
  ): Promise<void>;
  close(): Promise<void>;
}

const TIMEOUT_MS = 120_000;

/**
 * Connects to the host that owns the state folder, or returns null when there is none. Starts nothing. Throws
 * NOT_RUNNING when the host is there but cannot be reached yet, CONFLICT when it is of another major version.
 */
export async function connectHost(home: string, version: string): Promise<HostClient | null> {
  const host = await readHost(home);
  if (host.state !== 'running' || host.info.brief) return null;
  const { info } = host;
  if (info.version.split('.')[0] !== version.split('.')[0])
    throw new AppError('CONFLICT', `MetaClaw ${info.version} is running, but this command is ${version}.`, {
      hint: 'Stop it and start the newer one.',
    });
  if (info.controlPort === null)
    throw new AppError('NOT_RUNNING', `MetaClaw (pid ${info.pid}) is still starting.`, {
      hint: 'Try again in a moment.',
    });
  const base = `http://127.0.0.1:${info.controlPort}/control/`;
  const headers = { authorization: `Bearer ${readToken(home)}`, 'content-type': 'application/json' };

  const closed = new AbortController();

  const call: Call = async (route, input) => {
    const reply = await send<RouteOutput<typeof route>>(`${base}${route}`, JSON.stringify(input));
    if (!reply.ok) throw AppError.fromJSON(reply.error);
    return reply.data;
  };
  const send = async <T>(url: string, body: string): Promise<Reply<T>> => {
    try {
      // Node's own: loading a library for this would double the time that a command takes.
      const signal = AbortSignal.any([closed.signal, AbortSignal.timeout(TIMEOUT_MS)]);
      const response = await fetch(url, { method: 'POST', headers, body, signal });
      return (await response.json()) as Reply<T>;
    } catch (error) {
      throw unreachable(info, error);
    }
  };
  return {
    info,
    call,
    events: async (signal, on) => {
      const parser = createParser({
        onEvent: ({ event, data }) => {
          const name = event as EventName;
          on(name, JSON.parse(data) as Events[typeof name]);
        },
      });
      try {
        const response = await fetch(`${base}events`, {
          headers,
          signal: AbortSignal.any([closed.signal, signal]),
        });
        const decoder = new TextDecoder();
        for await (const chunk of response.body ?? []) parser.feed(decoder.decode(chunk, { stream: true }));
      } catch (error) {
        if (!signal.aborted && !closed.signal.aborted) throw unreachable(info, error);
      }
    },
    close: async () => closed.abort(),
  };
}

function readToken(home: string): string {
  const path = statePaths(home).controlToken;
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new AppError('NOT_RUNNING', `The control token ${path} cannot be read: ${messageOf(error)}`, {
      hint: 'MetaClaw may be stopping. Does it run as another user?',
      cause: error,
    });
  }
}

function unreachable(info: RuntimeInfo, cause: unknown): AppError {
  return new AppError('NOT_RUNNING', `MetaClaw (pid ${info.pid}) does not answer: ${messageOf(cause)}`, {
    hint: 'If it hangs, end it with `metaclaw stop`.',
    cause,
  });
}
