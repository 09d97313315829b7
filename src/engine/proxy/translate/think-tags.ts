const OPEN = '<think>';
const CLOSE = '</think>';

export interface ThinkPiece {
  kind: 'text' | 'thinking';
  text: string;
}

/**
 * Takes reasoning out of text in which a model marks it by `<think>` at the very start (S12). Tags later in an answer
 * are the answer's own words. Where the upstream separates reasoning itself, a leading `<think>` part is removed only
 * if it repeats that reasoning (S10). Text may be cut anywhere, also within a tag.
 */
export class ThinkTags {
  #state: 'start' | 'thinking' | 'after' | 'text';
  #held = '';
  /** Reasoning that came in a field of its own; null while none did. */
  #separate: string | null = null;

  constructor(enabled = true) {
    this.#state = enabled ? 'start' : 'text';
  }

  /** Tells of reasoning that the upstream sent separately; call it before `push` of the same delta. */
  separated(text: string): void {
    this.#separate = (this.#separate ?? '') + text;
  }

  push(text: string): ThinkPiece[] {
    if (this.#state === 'text') return piece('text', text);
    this.#held += text;
    return this.#advance(false);
  }

  /** The stream ended; gives what was still held back. */
  flush(): ThinkPiece[] {
    return this.#advance(true);
  }

  #advance(last: boolean): ThinkPiece[] {
    const out: ThinkPiece[] = [];
    while (this.#state !== 'text') {
      const state: string = this.#state;
      const done = this.#step(out, last);
      if (done || this.#state === state) break;
    }
    if (this.#state === 'text' || last) out.push(...piece('text', this.#release()));
    return out;
  }

  /** One move of the machine; true when more text is needed. */
  #step(out: ThinkPiece[], last: boolean): boolean {
    if (this.#state === 'start') {
      const text = this.#held.trimStart();
      if (text.startsWith(OPEN)) {
        this.#state = 'thinking';
        if (this.#separate === null) this.#held = text.slice(OPEN.length);
      } else if (text.startsWith(CLOSE)) {
        this.#held = text.slice(CLOSE.length);
        this.#state = 'after';
      } else if (last || (text !== '' && !OPEN.startsWith(text) && !CLOSE.startsWith(text)))
        this.#state = 'text';
      else return true;
      return false;
    }
    if (this.#state === 'thinking')
      return this.#separate === null ? this.#think(out, last) : this.#compare(last);
    // White space between the reasoning and the answer belongs to neither.
    this.#held = this.#held.trimStart();
    if (this.#held === '' && !last) return true;
    this.#state = 'text';
    return false;
  }

  #think(out: ThinkPiece[], last: boolean): boolean {
    const close = this.#held.indexOf(CLOSE);
    if (close >= 0) {
      out.push(...piece('thinking', this.#held.slice(0, close)));
      this.#held = this.#held.slice(close + CLOSE.length);
      this.#state = 'after';
      return false;
    }
    const keep = last ? 0 : openTail(this.#held);
    out.push(...piece('thinking', this.#held.slice(0, this.#held.length - keep)));
    this.#held = this.#held.slice(this.#held.length - keep);
    return true;
  }

  /** Reasoning came separately: the tagged part goes only if it says the same. */
  #compare(last: boolean): boolean {
    const open = this.#held.indexOf(OPEN);
    const close = this.#held.indexOf(CLOSE);
    if (close < 0 && !last) return true;
    const from = open < 0 ? 0 : open + OPEN.length;
    const tagged = this.#held.slice(from, close < 0 ? undefined : close).trim();
    const repeats = (this.#separate ?? '').includes(tagged);
    if (repeats) this.#held = close < 0 ? '' : this.#held.slice(close + CLOSE.length);
    this.#state = repeats ? 'after' : 'text';
    return false;
  }

  #release(): string {
    const text = this.#held;
    this.#held = '';
    return text;
  }
}

/** The whole text of a reply at once. */
export function splitThink(
  text: string,
  separate: string,
  enabled = true,
): { text: string; thinking: string } {
  const tags = new ThinkTags(enabled);
  if (separate !== '') tags.separated(separate);
  const result = { text: '', thinking: '' };
  for (const part of [...tags.push(text), ...tags.flush()]) result[part.kind] += part.text;
  return result;
}

function piece(kind: ThinkPiece['kind'], text: string): ThinkPiece[] {
  return text === '' ? [] : [{ kind, text }];
}

/** Length of the end of `text` that may be the beginning of a closing tag. */
function openTail(text: string): number {
  for (let length = Math.min(CLOSE.length - 1, text.length); length > 0; length -= 1) {
    if (CLOSE.startsWith(text.slice(-length))) return length;
  }
  return 0;
}
