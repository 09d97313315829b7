import { AppError } from '../../../shared/errors.ts';
import type { Dialect } from '../../../shared/model.ts';

/** Names of the chat wire, which is the middle, and what a client of another dialect calls them. */
const WORDS: Readonly<Record<Exclude<Dialect, 'openai'>, Readonly<Record<string, string>>>> = {
  responses: {
    messages: 'input',
    max_completion_tokens: 'max_output_tokens',
    reasoning_effort: 'reasoning.effort',
    response_format: 'text.format',
    verbosity: 'text.verbosity',
  },
  anthropic: {
    max_completion_tokens: 'max_tokens',
    reasoning_effort: 'thinking',
    response_format: 'output_config.format',
    stop: 'stop_sequences',
    user: 'metadata.user_id',
  },
};

/** A dropped parameter by the client's own name for it. */
export function clientWord(client: Dialect, name: string): string {
  if (client === 'openai') return name;
  const [, head = '', rest = ''] = /^(\w*)(.*)$/s.exec(name) ?? [];
  return (WORDS[client][head] ?? head) + rest;
}

/** Runs the second of two translations: what it refuses is told by the client's own name, without the middle's indices. */
export function inClientWords<T>(client: Dialect, translate: () => T): T {
  try {
    return translate();
  } catch (error) {
    if (!(error instanceof AppError) || error.field === undefined) throw error;
    const field = clientWord(client, error.field.replace(/^messages\[.*$/s, 'messages'));
    throw new AppError(error.code, error.message, {
      ...(error.hint === undefined ? {} : { hint: error.hint }),
      field,
      cause: error,
    });
  }
}
