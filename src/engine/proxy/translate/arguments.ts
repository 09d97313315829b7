import { isObject, parseJson } from './json.ts';
import type { JsonObject } from './types.ts';

/** Put in front of a failed tool's output on a wire that has no error flag (T25). */
export const TOOL_ERROR_MARK = '[tool error]';

/**
 * Tool arguments as an object (T30). Empty, `null` and absent mean `{}`; an object is used as it is; JSON inside a
 * JSON string is unwrapped. Anything else is kept whole under `raw_arguments`, so that the tool itself can complain.
 */
export function argumentsObject(value: unknown): JsonObject {
  if (isObject(value)) return value;
  if (value === undefined || value === null) return {};
  if (typeof value !== 'string') return { raw_arguments: value };
  if (value.trim() === '') return {};
  const parsed = parseJson(value);
  if (parsed === null) return {};
  if (isObject(parsed)) return parsed;
  if (typeof parsed === 'string') {
    if (parsed.trim() === '') return {};
    const inner = parseJson(parsed);
    if (isObject(inner)) return inner;
  }
  return { raw_arguments: value };
}

/** Follows a JSON object that arrives in pieces and tells when its last brace closed, without parsing it again. */
export class ObjectProgress {
  #depth = 0;
  #inString = false;
  #escaped = false;
  #complete = false;
  #first = 0;

  /** True once the text is known to begin with a brace. */
  get isObject(): boolean {
    return this.#first === OPEN_BRACE;
  }

  get complete(): boolean {
    return this.#complete;
  }

  feed(text: string): void {
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (this.#first === 0 && code > SPACE) this.#first = code;
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (code === BACKSLASH) this.#escaped = true;
        else if (code === QUOTE) this.#inString = false;
      } else if (code === QUOTE) this.#inString = true;
      else if (code === OPEN_BRACE || code === OPEN_BRACKET) this.#depth += 1;
      else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
        this.#depth -= 1;
        if (this.#depth === 0) this.#complete = true;
      }
    }
  }
}

const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
