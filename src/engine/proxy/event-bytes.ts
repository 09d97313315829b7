const LF = 10;
const CR = 13;
/** An event larger than this is passed on in pieces: holding it would cost memory and time. */
const HOLD_MAX = 1024 * 1024;

/**
 * Cuts a byte stream of server-sent events behind blank lines, so that nothing but whole events reaches the client:
 * then an error or a heartbeat can stand between two of them, and a stream that dies leaves no half event behind.
 * The bytes themselves are never changed.
 */
export class EventBytes {
  #held: Buffer[] = [];
  #size = 0;
  #split = false;

  /** False while part of an oversized event has been passed on. */
  get atBoundary(): boolean {
    return !this.#split;
  }

  /** The bytes that may go out now; null when the chunk ends no event. */
  push(chunk: Buffer): Buffer | null {
    const end = this.#boundary(chunk);
    if (end === 0) {
      this.#held.push(chunk);
      this.#size += chunk.length;
      if (this.#size <= HOLD_MAX) return null;
      this.#split = true;
      return this.rest();
    }
    const ready = this.#take(chunk.subarray(0, end));
    this.#split = false;
    if (end < chunk.length) {
      this.#held.push(chunk.subarray(end));
      this.#size = chunk.length - end;
    }
    return ready;
  }

  /** What is held back: bytes after the last blank line. */
  rest(): Buffer | null {
    return this.#size === 0 ? null : this.#take(null);
  }

  #take(more: Buffer | null): Buffer {
    const parts = more ? [...this.#held, more] : this.#held;
    this.#held = [];
    this.#size = 0;
    return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
  }

  /** End of the last blank line in the chunk, 0 when there is none; LF, CR and CRLF end a line. */
  #boundary(chunk: Buffer): number {
    for (let at = chunk.length - 1; at >= 0; at -= 1) {
      const code = chunk[at];
      if (code !== LF && code !== CR) continue;
      let before = at - 1;
      if (code === LF && this.#byte(chunk, before) === CR) before -= 1;
      const previous = this.#byte(chunk, before);
      if (previous === LF || previous === CR) return at + 1;
    }
    return 0;
  }

  /** A byte of the chunk, or of what is held before it. */
  #byte(chunk: Buffer, at: number): number | undefined {
    if (at >= 0) return chunk[at];
    let back = at;
    for (let part = this.#held.length - 1; part >= 0; part -= 1) {
      const held = this.#held[part] as Buffer;
      back += held.length;
      if (back >= 0) return held[back];
    }
    return undefined;
  }
}
