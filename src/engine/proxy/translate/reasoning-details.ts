import { asArray, isObject } from './json.ts';
import type { JsonObject } from './types.ts';

/** Fields of a reasoning block that come in pieces. */
const IN_PIECES: readonly string[] = ['text', 'summary', 'data'];

/** Puts the `reasoning_details` of a stream (OpenRouter, MiniMax) together: pieces of one block share its index. */
export class ReasoningDetails {
  readonly blocks: JsonObject[] = [];

  add(pieces: unknown): void {
    for (const piece of asArray(pieces).filter(isObject)) {
      const last = this.blocks.at(-1);
      if (last && last.type === piece.type && last.index === piece.index && !endsWith(last, piece))
        join(last, piece);
      else this.blocks.push({ ...piece });
    }
  }
}

/** A sealed block is whole: another one with its index is another block. */
function endsWith(last: JsonObject, piece: JsonObject): boolean {
  return typeof last.data === 'string' && typeof piece.data === 'string' && last.id !== piece.id;
}

function join(into: JsonObject, piece: JsonObject): void {
  for (const [name, value] of Object.entries(piece)) {
    if (value === null || value === undefined) continue;
    const before = into[name];
    into[name] =
      IN_PIECES.includes(name) && typeof before === 'string' && typeof value === 'string'
        ? before + value
        : value;
  }
}
