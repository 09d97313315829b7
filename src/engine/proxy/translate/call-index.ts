import { asObject, asText, isObject, parseJson } from './json.ts';
import type { JsonObject } from './types.ts';

/** What is known of a tool call. */
export interface CallParts {
  id: string;
  name: string;
  arguments: string;
  /** A free-form tool of OpenAI's: its input is plain text. */
  custom?: boolean;
  /** What its vendor wants back with it, e.g. Gemini's signature. */
  extra?: JsonObject;
}

/**
 * Finds the tool call that a piece of an OpenAI stream belongs to. Servers leave the index out, repeat index 0 for
 * every call, send the id late, or repeat id and name in every piece; all of that must end in the same calls.
 */
export class CallIndex {
  readonly #calls: CallParts[] = [];
  readonly #byIndex = new Map<number, CallParts>();

  get calls(): readonly CallParts[] {
    return this.#calls;
  }

  /** Adds the piece to its call and returns that call with the new arguments text. */
  add(piece: JsonObject): { call: CallParts; added: string } {
    const fn = isObject(piece.function) ? piece.function : asObject(piece.custom);
    const id = asText(piece.id);
    const name = asText(fn.name);
    const call = this.#find(piece.index, id, name);
    if (call.id === '') call.id = id;
    // A name in pieces is joined; one that is repeated with every piece is not.
    if (call.name === '') call.name = name;
    else if (name !== '' && name !== call.name && call.arguments === '') call.name += name;
    if (isObject(piece.extra_content)) call.extra ??= piece.extra_content;
    const added = argumentsText(fn.arguments ?? fn.input);
    call.arguments += added;
    return { call, added };
  }

  #find(index: unknown, id: string, name: string): CallParts {
    if (typeof index === 'number') {
      const known = this.#byIndex.get(index);
      // A new id alone proves nothing (some servers draw one per piece); with a name it is the next call.
      if (known !== undefined && !(name !== '' && id !== '' && known.id !== '' && id !== known.id))
        return known;
      const same = known === undefined ? undefined : this.#calls.find((call) => call.id === id);
      const call = same ?? this.#open();
      this.#byIndex.set(index, call);
      return call;
    }
    const last = this.#calls.at(-1);
    if (id !== '') {
      const known = this.#calls.find((call) => call.id === id);
      if (known !== undefined) return known;
      return last !== undefined && last.id === '' && (name === '' || last.name === '' || name === last.name)
        ? last
        : this.#open();
    }
    if (last === undefined) return this.#open();
    if (name === '' || last.name === '' || last.arguments === '') return last;
    return name === last.name && !isObject(parseJson(last.arguments)) ? last : this.#open();
  }

  #open(): CallParts {
    const call: CallParts = { id: '', name: '', arguments: '' };
    this.#calls.push(call);
    return call;
  }
}

function argumentsText(value: unknown): string {
  if (typeof value === 'string') return value;
  return isObject(value) ? JSON.stringify(value) : '';
}
