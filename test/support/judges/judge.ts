import type { Dialect } from '../../../src/shared/model.ts';

/** What a person asks of a model, whichever SDK carries it. */
export interface Ask {
  text?: string;
  system?: string;
  /** Base64 of a PNG. */
  image?: string;
  /** Base64 of a PDF. */
  pdf?: string;
  /** Gives the model the tools of `TOOLS`. */
  tools?: boolean;
  /** The answer must fit `PLACE`. */
  structured?: boolean;
  /** Think hard before answering. */
  thinks?: boolean;
  /** At most so many tokens. */
  limit?: number;
}

export interface AskOptions {
  signal?: AbortSignal;
  /** Milliseconds after which the SDK gives up. */
  timeout?: number;
}

/** An answer as a program reads it that knows its SDK and nothing of what is behind it. */
export interface Heard {
  text: string;
  thinking: string;
  refusal: string;
  calls: { id: string; name: string; input: unknown }[];
  end: 'stop' | 'tools' | 'limit' | 'refusal';
  /** `input` counts all of the prompt, cached or not. */
  usage: { input: number; cacheRead: number; output: number };
  model: string;
  /** What the SDK parsed of a structured answer, by its schema. */
  parsed: unknown;
  requestId: string | null | undefined;
}

/** The event names that an SDK's streaming helper told, each once, in order of their first appearance. */
type Told = readonly string[];

type ErrorName =
  | 'APIError'
  | 'APIUserAbortError'
  | 'APIConnectionTimeoutError'
  | 'BadRequestError'
  | 'AuthenticationError'
  | 'PermissionDeniedError'
  | 'NotFoundError'
  | 'RateLimitError'
  | 'InternalServerError';

/** One official SDK on one API. */
export interface Judge {
  name: string;
  dialect: Dialect;
  errors: Record<ErrorName, abstract new (...args: never[]) => Error>;
  /** Streaming helper events that an answer with thinking, words and calls must bring. */
  tells: Told;
  whole(ask: Ask, options?: AskOptions): Promise<Heard>;
  /** By the SDK's streaming helper. */
  stream(ask: Ask, options?: AskOptions): Promise<{ heard: Heard; told: Told }>;
  /** Runs tools until the model is content, by the SDK's own loop where it has one; resolves with the last words. */
  loop(ask: Ask, run: RunTool): Promise<string>;
}

type RunTool = (name: string, input: unknown) => string;

export interface Door {
  /** `http://127.0.0.1:PORT/a/<agent>`. */
  base: string;
  key?: string;
}

/** The model's name as judges ask for it; the provider has another one. */
export const ASKED = 'asked-name';

export const TOOLS = ['get_weather', 'get_time'].map((name) => ({
  name,
  description: `Runs ${name}.`,
  parameters: { type: 'object' as const, properties: { of: { type: 'string' as const } } },
}));

/** Collects the names of events. */
export function teller(): { told: string[]; hear: (name: string) => void } {
  const told: string[] = [];
  return { told, hear: (name) => void (told.includes(name) || told.push(name)) };
}
