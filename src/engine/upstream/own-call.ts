import type { Dialect, Usage } from '../../shared/model.ts';
import type { OwnPurpose } from '../../shared/usage.ts';
import type { CallMeter } from '../ports.ts';
import type { UpstreamReply } from './exchange.ts';
import type { Route, UpstreamRequest } from './route.ts';

/** Whose question it is. */
export interface Asker {
  send: (route: Route, request: UpstreamRequest) => Promise<UpstreamReply>;
  meter: CallMeter;
  purpose: OwnPurpose;
  sessionId: string | null;
}

type Json = Record<string, unknown>;

/**
 * Sends a question of ours, reads its whole answer (at most `maxBytes`) and enters it in the ledger, however it ends.
 * Throws CANCELLED before anything is sent when the day's cap is used up, AppError UPSTREAM_* when no answer came.
 */
export async function askOwn(
  { send, meter, purpose, sessionId }: Asker,
  route: Route,
  question: { path: string; body: object; signal: AbortSignal },
  maxBytes: number,
): Promise<{ status: number; text: string; headers: UpstreamReply['headers'] }> {
  const call = { purpose, sessionId, upstream: route.name, host: route.host, model: route.model };
  meter.admit(call);
  const body = Buffer.from(JSON.stringify(question.body));
  let status: number | null = null;
  let text = '';
  try {
    const reply = await send(route, {
      path: question.path,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        'accept-encoding': 'identity',
      },
      body,
      signal: question.signal,
    });
    status = reply.status;
    text = (await reply.body.bytes(maxBytes)).toString('utf8');
    const words = purpose === 'embeddings' ? '' : text;
    const usage = readUsage(route.wire, text) ?? (status < 400 ? estimate(body.length, words) : null);
    meter.record({ ...call, httpStatus: status, usage });
    return { status, text, headers: reply.headers };
  } catch (error) {
    // A provider that was reached reads, and bills, a question whose answer nobody waits for.
    const wasRead = status !== null ? status < 400 : question.signal.aborted;
    meter.record({ ...call, httpStatus: status, usage: wasRead ? estimate(body.length, text) : null });
    throw error;
  }
}

/** Four bytes a token. */
function estimate(sentBytes: number, text: string): Usage {
  return {
    inputTokens: Math.ceil(sentBytes / 4),
    outputTokens: Math.ceil(text.length / 4),
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    estimated: true,
  };
}

/** The `usage` of an answer. OpenAI's wires count cached tokens into the prompt, Anthropic's beside it. */
function readUsage(wire: Dialect, text: string): Usage | null {
  const usage = record(record(parse(text)).usage);
  const input = count(usage.prompt_tokens ?? usage.input_tokens);
  const output = count(usage.completion_tokens ?? usage.output_tokens);
  if (input === null && output === null) return null;
  const details = record(usage.prompt_tokens_details ?? usage.input_tokens_details);
  const cacheRead =
    count(
      usage.cache_read_input_tokens ??
        details.cached_tokens ??
        usage.prompt_cache_hit_tokens ??
        usage.cached_tokens,
    ) ?? 0;
  const cacheWrite = count(usage.cache_creation_input_tokens ?? details.cache_write_tokens) ?? 0;
  const cached = wire === 'anthropic' ? 0 : cacheRead + cacheWrite;
  return {
    inputTokens: Math.max(0, (input ?? 0) - cached),
    outputTokens: output ?? 0,
    cacheReadTokens: cacheRead,
    cacheWriteTokens: cacheWrite,
    estimated: false,
    ...(typeof usage.cost === 'number' && usage.is_byok !== true ? { reportedCost: usage.cost } : {}),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function record(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {};
}

function count(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null;
}
