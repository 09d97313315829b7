import { createHash } from 'node:crypto';
import { isObject } from '../translate/json.ts';

type CountTokens = (text: string) => number;

/** A picture or file counts about this much, whatever its bytes. */
const OPAQUE_TOKENS = 1500;
const OPAQUE_MIN = 2048;
/** What a message costs beside its words: role and marks. */
const MESSAGE_TOKENS = 4;
/** The tokeniser's time grows with the square of a word's length; words of this length hold no language. */
const LONG_WORD = /[\p{L}\p{M}\p{S}]{400,}/gu;
const MOST_KEPT = 20_000;

/**
 * Counts with OpenAI's o200k tokeniser, which is near to what other vendors count. It is loaded when a limit calls for
 * it, and each text is counted once: a conversation sends the same messages again and again.
 */
export class TokenCounter {
  readonly #known = new Map<string, number>();
  #tokeniser: Promise<CountTokens> | null = null;

  /** Loads the tokeniser ahead of the first turn that needs it. */
  warm(): void {
    this.#load().catch(() => {
      // Said by the first count that needs it.
      this.#tokeniser = null;
    });
  }

  /** Tokens of a JSON text: its words, without its punctuation and escapes. */
  async count(json: string): Promise<number> {
    const key = createHash('sha1').update(json).digest('base64');
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const countTokens = await this.#load();
    const tokens = countValue(JSON.parse(json) as unknown, countTokens) + MESSAGE_TOKENS;
    if (this.#known.size >= MOST_KEPT) this.#known.clear();
    this.#known.set(key, tokens);
    return tokens;
  }

  #load(): Promise<CountTokens> {
    this.#tokeniser ??= import('gpt-tokenizer/encoding/o200k_base').then(({ countTokens }) => {
      // Marks such as <|endoftext|> are words like others here: somebody talks about them.
      const options = { disallowedSpecial: new Set<string>() };
      return (text) => countTokens(text, options);
    });
    return this.#tokeniser;
  }
}

function countValue(value: unknown, countTokens: CountTokens): number {
  if (typeof value === 'string') return countText(value, countTokens);
  if (Array.isArray(value))
    return value.reduce((sum: number, item) => sum + countValue(item, countTokens), 0);
  if (!isObject(value)) return 1;
  return Object.entries(value).reduce(
    (sum, [name, inner]) => sum + (name === 'type' || name === 'role' ? 0 : countValue(inner, countTokens)),
    0,
  );
}

function countText(text: string, countTokens: CountTokens): number {
  if (
    text.length > OPAQUE_MIN &&
    !text.slice(0, 512).includes(' ') &&
    /^[\w+/:;,=-]+$/.test(text.slice(0, 512))
  )
    return OPAQUE_TOKENS;
  let long = 0;
  const rest = text.replace(LONG_WORD, (word) => {
    long += /[\u2e80-\uffff]/.test(word) ? word.length : Math.ceil(word.length / 2);
    return ' ';
  });
  return long + countTokens(rest);
}
