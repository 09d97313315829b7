import { type QueryClient, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type {
  Call,
  EventName,
  Events,
  Reply,
  RouteInput,
  RouteName,
  RouteOutput,
} from '../../shared/contract.ts';
import { AppError } from '../../shared/errors.ts';
import type { Bridge, HostCallInput, HostEvents, HostOutputs, HostRouteName } from '../../shared/host.ts';
import { useUi } from './state.ts';

declare global {
  interface Window {
    readonly metaclaw: Bridge;
  }
}

async function send(route: string, input: unknown): Promise<unknown> {
  const reply = (await window.metaclaw.request(route, input)) as Reply<unknown>;
  if (reply.ok) return reply.data;
  throw AppError.fromJSON(reply.error);
}

/** Calls the engine. Rejects with AppError. */
export const call: Call = (route, input) => send(route, input) as Promise<RouteOutput<typeof route>>;

/** Calls the window's host. Rejects with AppError. */
export function callHost<R extends HostRouteName>(
  route: R,
  input: HostCallInput<R>,
): Promise<HostOutputs[R]> {
  return send(route, input) as Promise<HostOutputs[R]>;
}

/** Listens to one event of engine or host; returns the disposer. */
export function onEvent<E extends EventName>(event: E, listener: (payload: Events[E]) => void): () => void {
  return window.metaclaw.on(event, (payload) => listener(payload as Events[E]));
}

/** The same for events of the host. */
export function onHostEvent<E extends keyof HostEvents>(
  event: E,
  listener: (payload: HostEvents[E]) => void,
): () => void {
  return window.metaclaw.on(event, (payload) => listener(payload as HostEvents[E]));
}

/** Asks for something and keeps it; asked again when an event says that it changed. */
export function useRoute<R extends RouteName>(
  route: R,
  input: RouteInput<R>,
  options: { enabled?: boolean } = {},
) {
  return useQuery<RouteOutput<R>, AppError>({
    queryKey: [route, input],
    queryFn: () => call(route, input),
    enabled: options.enabled ?? true,
  });
}

/**
 * A command as a mutation: `run.mutate(input)`, with its pending and failed states. That it failed is said in a toast,
 * in the words of `failure` where there are better ones than the error's own.
 */
export function useCommand<R extends RouteName>(
  route: R,
  failure: (error: AppError) => string = (error) => error.message,
) {
  const client = useQueryClient();
  const toast = useUi((state) => state.toast);
  return useMutation<RouteOutput<R>, AppError, RouteInput<R>>({
    mutationFn: (input) => call(route, input),
    onError: (error) => toast(failure(error), { tone: 'danger' }),
    onSettled: () => {
      // Not waited for: what a caller does on success must not be lost when the refreshed list drops its row first.
      void client.invalidateQueries();
    },
  });
}

/** Which calls an event makes stale. */
const STALE: Record<Events['invalidate']['topic'], readonly string[]> = {
  turns: ['turns.', 'usage.', 'setup.state'],
  sessions: ['turns.'],
  // An edit that waits follows the skill that it changes.
  skills: ['skills.', 'proposals.'],
  memory: ['memory.'],
  agents: ['agents.'],
  proposals: ['proposals.', 'skills.list'],
  config: ['config.', 'setup.', 'proxy.endpoints', 'usage.', 'turns.get'],
  jobs: [],
  usage: ['usage.'],
};

/** Keeps what is shown in step with the engine; returns the disposer. */
export function followInvalidations(client: QueryClient): () => void {
  return onEvent('invalidate', ({ topic }) => {
    const prefixes = STALE[topic];
    void client.invalidateQueries({
      predicate: ({ queryKey: [route] }) => prefixes.some((prefix) => String(route).startsWith(prefix)),
    });
  });
}
