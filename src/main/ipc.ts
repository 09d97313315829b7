import { type IpcMainInvokeEvent, ipcMain, type WebContents } from 'electron';
import type { Engine } from '../engine/index.ts';
import type { Events, Reply } from '../shared/contract.ts';
import { AppError, messageOf } from '../shared/errors.ts';
import {
  HOST_ROUTES,
  type HostEvents,
  type HostInput,
  type HostOutputs,
  type HostRouteName,
} from '../shared/host.ts';

/** The host's own calls, one handler each. */
export type HostHandlers = {
  [R in HostRouteName]: (input: HostInput<R>) => HostOutputs[R] | Promise<HostOutputs[R]>;
};

export interface Ipc {
  /** From now on the engine's calls are answered and its events passed on. */
  connect(engine: Engine): void;
  /** Tells the window; nothing happens while there is none. */
  send<E extends keyof HostEvents>(name: E, payload: HostEvents[E]): void;
  dispose(): void;
}

/**
 * The one door between page and main process: a `request` channel that answers, an `event` channel that tells.
 * Requests are taken from the top frame of our own window at `app://` only.
 * @param contents the window's page, or null while there is no window
 */
export function createIpc(deps: {
  host: HostHandlers;
  contents: () => WebContents | null;
  origin: string;
  report: (error: unknown) => void;
}): Ipc {
  let engine: Engine | null = null;
  const disposers: (() => void)[] = [];

  const send = (name: string, payload: unknown) => {
    const contents = deps.contents();
    if (contents !== null && !contents.isDestroyed()) contents.send('event', { name, payload });
  };

  const answer = async (event: IpcMainInvokeEvent, message: unknown): Promise<Reply<unknown>> => {
    try {
      if (!isOurs(event)) throw new AppError('FORBIDDEN', 'This page may not call MetaClaw.');
      const { route, input } = readMessage(message);
      return { ok: true, data: await dispatch(route, input) };
    } catch (error) {
      if (error instanceof AppError) return { ok: false, error: error.toJSON() };
      deps.report(error);
      return { ok: false, error: { code: 'INTERNAL', message: messageOf(error) } };
    }
  };

  const isOurs = (event: IpcMainInvokeEvent): boolean => {
    const contents = deps.contents();
    const frame = event.senderFrame;
    if (contents === null || frame === null || event.sender.id !== contents.id) return false;
    return (
      frame.parent === null &&
      new URL(frame.url).protocol === new URL(deps.origin).protocol &&
      frame.url.startsWith(`${deps.origin}/`)
    );
  };

  const dispatch = async (route: string, input: unknown): Promise<unknown> => {
    if (isHostRoute(route)) {
      const parsed = HOST_ROUTES[route].safeParse(input ?? {});
      if (!parsed.success)
        throw new AppError('BAD_INPUT', `${route}: ${parsed.error.issues[0]?.message ?? 'bad input'}`);
      // The table relates each route to its own input and output; the compiler cannot follow a union of both.
      return (deps.host[route] as (input: unknown) => unknown)(parsed.data);
    }
    if (engine === null) throw new AppError('NOT_RUNNING', 'MetaClaw has not started.');
    // Unknown routes and bad input are refused by the engine's own router.
    return engine.dispatch(route, input, 'window');
  };

  ipcMain.handle('request', answer);
  return {
    connect: (opened) => {
      engine = opened;
      disposers.push(
        opened.bus.on('snapshot', (snapshot) => send('snapshot', snapshot)),
        opened.bus.on('invalidate', (topic) => send('invalidate', { topic } satisfies Events['invalidate'])),
        opened.bus.on('demo', (event) => send('demo', event)),
      );
    },
    send,
    dispose: () => {
      ipcMain.removeHandler('request');
      for (const dispose of disposers) dispose();
    },
  };
}

function isHostRoute(route: string): route is HostRouteName {
  return Object.hasOwn(HOST_ROUTES, route);
}

function readMessage(message: unknown): { route: string; input: unknown } {
  if (
    typeof message === 'object' &&
    message !== null &&
    'route' in message &&
    typeof message.route === 'string'
  ) {
    return { route: message.route, input: 'input' in message ? message.input : undefined };
  }
  throw new AppError('BAD_INPUT', 'A request names its route.');
}
