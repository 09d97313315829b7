import { createHash } from 'node:crypto';

const ALLOWED = /^[a-zA-Z0-9_-]+$/;

/** How many characters of a long name stay readable before its hash. */
const KEPT = 55;

/** Longest function name of the OpenAI API. */
export const OPENAI_NAME_LIMIT = 64;
/** Longest tool name of the Anthropic API. */
export const ANTHROPIC_NAME_LIMIT = 128;

/** Longest tool-call id of the OpenAI API. */
const OPENAI_ID_LIMIT = 40;

/**
 * Gives each tool name a form that the upstream accepts (T15). A name's form depends on the name alone, so it is
 * the same in every request of a session; only a real clash of two names moves the later one.
 */
export class ToolNames {
  readonly #limit: number;
  readonly #toWire = new Map<string, string>();
  readonly #toClient = new Map<string, string>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  wire(name: string): string {
    const known = this.#toWire.get(name);
    if (known !== undefined) return known;
    let wire = this.#shape(name, name);
    for (let round = 1; this.#toClient.has(wire); round += 1) wire = this.#shape(name, `${name}#${round}`);
    this.#toWire.set(name, wire);
    this.#toClient.set(wire, name);
    return wire;
  }

  /** Wire name → client name, only where they differ. */
  renamed(): ReadonlyMap<string, string> {
    return new Map([...this.#toClient].filter(([wire, name]) => wire !== name));
  }

  #shape(name: string, seed: string): string {
    if (seed === name && ALLOWED.test(name) && name.length <= this.#limit) return name;
    const readable = name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, KEPT);
    return `${readable}_${hash(seed, 8)}`;
  }
}

/**
 * Gives each tool call of a conversation an id that the upstream accepts and that no other call has.
 * Some servers count their ids from zero in every turn; a result always answers the newest call of its id.
 */
export class CallIds {
  readonly #allowed: (id: string) => boolean;
  readonly #used = new Set<string>();
  readonly #newest = new Map<string, string>();

  private constructor(allowed: (id: string) => boolean) {
    this.#allowed = allowed;
  }

  static forOpenai(): CallIds {
    return new CallIds((id) => id.length > 0 && id.length <= OPENAI_ID_LIMIT);
  }

  static forAnthropic(): CallIds {
    return new CallIds((id) => ALLOWED.test(id) && id.length <= 64);
  }

  call(id: string): string {
    let wire = this.#allowed(id) ? id : shapeId(id, id);
    for (let round = 2; this.#used.has(wire); round += 1) wire = shapeId(id, `${id}#${round}`);
    this.#used.add(wire);
    this.#newest.set(id, wire);
    return wire;
  }

  result(id: string): string {
    return this.#newest.get(id) ?? (this.#allowed(id) ? id : shapeId(id, id));
  }
}

function shapeId(id: string, seed: string): string {
  return `${id.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 24)}_${hash(seed, 10)}`;
}

function hash(text: string, length: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length);
}
