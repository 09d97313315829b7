import { AppError } from '../../shared/errors.ts';

/** A value's place in its text, in bytes; `end` is exclusive. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

type ValueKind = 'string' | 'array' | 'object' | 'other';

export interface SkimValue extends Span {
  readonly kind: ValueKind;
}

/** The walk does not cover this text; whoever parses it can say whether it is odd or broken. */
export class Odd extends Error {}

export const QUOTE = 34;
export const BACKSLASH = 92;
const COMMA = 44;
const COLON = 58;
export const OBJECT = 123;
const OBJECT_END = 125;
export const ARRAY = 91;
const ARRAY_END = 93;
/** Strings longer than this, without a space near their beginning, hold no text. */
const OPAQUE_MIN = 8192;
/** No client nests like that; what parses or writes JSON later on would run out of stack. */
const DEEPEST = 1000;
const SCALAR = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;

/** Walks JSON once, without looking into its strings: they are skipped by `indexOf`, so a byte of text costs almost nothing. */
export class Walker {
  readonly s: string;
  i = 0;
  /** Characters in strings that hold no text. */
  opaque = 0;

  constructor(latin1: string) {
    this.s = latin1;
  }

  ws(): number {
    const { s } = this;
    let code = s.charCodeAt(this.i);
    while (code === 32 || code === 10 || code === 13 || code === 9) {
      this.i += 1;
      code = s.charCodeAt(this.i);
    }
    return code;
  }

  expect(code: number): void {
    if (this.s.charCodeAt(this.i) !== code) throw new Odd();
    this.i += 1;
  }

  /** From an opening quote to just after the closing one. */
  string(): void {
    const { s } = this;
    const start = this.i;
    let at = start;
    for (;;) {
      at = s.indexOf('"', at + 1);
      if (at < 0) throw new Odd();
      let back = at - 1;
      while (s.charCodeAt(back) === BACKSLASH) back -= 1;
      if ((at - back) % 2 === 1) break;
    }
    this.i = at + 1;
    if (at - start > OPAQUE_MIN && s.slice(start, start + 512).indexOf(' ', 64) < 0)
      this.opaque += at - start;
  }

  /** A key or short string, decoded. */
  text(): string {
    const start = this.i;
    this.expect(QUOTE);
    this.i = start;
    this.string();
    const raw = this.s.slice(start + 1, this.i - 1);
    return raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw;
  }

  value(): SkimValue {
    const start = this.i;
    const code = this.s.charCodeAt(start);
    if (code === QUOTE) {
      this.string();
      return { start, end: this.i, kind: 'string' };
    }
    if (code === OBJECT || code === ARRAY) {
      this.#nested();
      return { start, end: this.i, kind: code === OBJECT ? 'object' : 'array' };
    }
    this.i = this.#scalarEnd(start);
    if (!SCALAR.test(this.s.slice(start, this.i))) throw new Odd();
    return { start, end: this.i, kind: 'other' };
  }

  #scalarEnd(from: number): number {
    let at = from;
    for (;;) {
      const code = this.s.charCodeAt(at);
      if (Number.isNaN(code) || code <= 32 || code === COMMA || code === OBJECT_END || code === ARRAY_END)
        return at;
      at += 1;
    }
  }

  #nested(): void {
    const { s } = this;
    const open: number[] = [];
    for (;;) {
      const code = s.charCodeAt(this.i);
      if (code === QUOTE) {
        this.string();
        continue;
      }
      if (Number.isNaN(code)) throw new Odd();
      this.i += 1;
      if (code === OBJECT || code === ARRAY) {
        if (open.push(code) > DEEPEST)
          throw new AppError('BAD_INPUT', `The request body nests deeper than ${DEEPEST} levels.`);
      } else if (code === OBJECT_END || code === ARRAY_END) {
        if (open.pop() !== code - 2) throw new Odd();
        if (open.length === 0) return;
      }
    }
  }

  /** Calls `member` at each value of an object; it must consume the value. */
  object(member: (key: string, keyStart: number) => void): void {
    this.expect(OBJECT);
    if (this.ws() === OBJECT_END) {
      this.i += 1;
      return;
    }
    for (;;) {
      const keyStart = this.i;
      const key = this.text();
      this.ws();
      this.expect(COLON);
      this.ws();
      member(key, keyStart);
      if (this.#last(OBJECT_END)) return;
    }
  }

  /** Calls `element` at each value of an array; it must consume the value. */
  array(element: () => void): void {
    this.expect(ARRAY);
    if (this.ws() === ARRAY_END) {
      this.i += 1;
      return;
    }
    for (;;) {
      element();
      if (this.#last(ARRAY_END)) return;
    }
  }

  #last(end: number): boolean {
    const code = this.ws();
    this.i += 1;
    if (code === end) return true;
    if (code !== COMMA) throw new Odd();
    this.ws();
    return false;
  }
}
