import type { JsonObject } from '../types.ts';

/** Numbers the events of one response stream. */
export class EventCounter {
  #next: number;

  constructor(first = 0) {
    this.#next = first;
  }

  /** SSE text of one event; its name equals its type. */
  event(type: string, fields: JsonObject): string {
    const data = { type, ...fields, sequence_number: this.#next };
    this.#next += 1;
    return `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
  }
}
