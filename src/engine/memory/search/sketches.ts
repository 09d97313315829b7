import { vectorKey } from '../../platform/vectors.ts';
import type { Clock, Embedder } from '../../ports.ts';
import type { Database } from '../../store/database.ts';
import type { Shelf } from './shelf.ts';
import { TRAIT } from './traits.ts';

/** Signs that are kept of a vector: enough to tell which few hundred of a hundred thousand to compare in full. */
const MOST_BITS = 512;
const WORD_BITS = 32;
/** Documents whose vectors are read at once, within a search and in each step of the background. */
const AT_ONCE = 100;
const PAUSE_MS = 15;

export interface SketchDeps {
  database: Database;
  embedder: Embedder;
  clock: Clock;
}

/** The signs of the vectors of a shelf's documents: 64 bytes each, held in memory. */
export class Sketch {
  readonly model: string;
  /** Numbers in a vector. */
  readonly size: number;
  readonly #words: number;
  #bits = new Uint32Array(0);
  /** Row of each document that has a vector; 0 for those that have none. */
  #refs = new Uint32Array(0);
  /** Documents that have been looked at, and those of them that had no vector then. */
  seen = 0;
  missing: number[] = [];
  /** How many times vectors had been stored when the missing ones were last looked for. */
  lookedAt = 0;

  constructor(model: string, size: number) {
    this.model = model;
    this.size = size;
    this.#words = Math.ceil(Math.min(MOST_BITS, size) / WORD_BITS);
  }

  put(doc: number, ref: number, vector: Float32Array): void {
    if (vector.length !== this.size) return;
    if (doc >= this.#refs.length) {
      const room = Math.max(256, doc * 2);
      const bits = new Uint32Array(room * this.#words);
      bits.set(this.#bits);
      const refs = new Uint32Array(room);
      refs.set(this.#refs);
      this.#bits = bits;
      this.#refs = refs;
    }
    this.#bits.set(this.#signs(vector), doc * this.#words);
    this.#refs[doc] = ref;
  }

  /** Calls `visit` for each document that has a vector, with its cosine as the signs tell it. `refs`: rows by document. */
  estimate(question: Float32Array, refs: Uint32Array, visit: (doc: number, cosine: number) => void): void {
    const wanted = this.#signs(question);
    const words = this.#words;
    const cosineOf = Float32Array.from({ length: words * WORD_BITS + 1 }, (_, differing) =>
      Math.cos((Math.PI * differing) / Math.min(words * WORD_BITS, this.size)),
    );
    for (let doc = 0; doc < this.seen; doc += 1) {
      const ref = this.#refs[doc] ?? 0;
      if (ref === 0 || ref !== refs[doc]) continue;
      let differing = 0;
      for (let word = 0; word < words; word += 1)
        differing += bitsIn((this.#bits[doc * words + word] ?? 0) ^ (wanted[word] ?? 0));
      visit(doc, cosineOf[differing] ?? 0);
    }
  }

  /** Of numbers at even distances, since some models put the weightiest first and others do not. */
  #signs(vector: Float32Array): Uint32Array {
    const signs = new Uint32Array(this.#words);
    const bits = Math.min(this.#words * WORD_BITS, this.size);
    for (let bit = 0; bit < bits; bit += 1)
      if ((vector[Math.floor((bit * this.size) / bits)] ?? 0) > 0) {
        const word = bit >>> 5;
        signs[word] = (signs[word] ?? 0) | (1 << (bit & 31));
      }
    return signs;
  }
}

/** Keeps a sketch for each shelf that is searched by meaning; what is not read yet is read in the background. */
export class Sketches {
  readonly #deps: SketchDeps;
  readonly #sketches = new WeakMap<Shelf, Sketch>();
  readonly #waiting = new Set<Shelf>();
  #cancel: (() => void) | null = null;
  /** How many times vectors have been stored. */
  #stored = 0;
  readonly #unsubscribe: () => void;

  constructor(deps: SketchDeps) {
    this.#deps = deps;
    this.#unsubscribe = deps.embedder.onStored(() => {
      this.#stored += 1;
    });
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = null;
    this.#waiting.clear();
    this.#unsubscribe();
  }

  /** What there is of it now; null when no endpoint is set. */
  of(shelf: Shelf, size: number): Sketch | null {
    const model = this.#deps.embedder.id;
    if (model === null) return null;
    let sketch = this.#sketches.get(shelf);
    if (sketch?.model !== model || sketch.size !== size) {
      sketch = new Sketch(model, size);
      this.#sketches.set(shelf, sketch);
    }
    if (this.#readSome(shelf, sketch)) this.#readLater(shelf);
    return sketch;
  }

  /** Vectors of documents of a shelf, where there are any. */
  vectors(shelf: Shelf, docs: readonly number[]): Map<number, Float32Array> {
    const { database, embedder } = this.#deps;
    const isUnit = (doc: number) => ((shelf.traits[doc] ?? 0) & TRAIT.unit) !== 0;
    const texts = (table: string, column: string, of: readonly number[]) =>
      new Map(
        database
          .all<{ id: number; text: string }>(
            `SELECT id, ${column} AS text FROM ${table} WHERE id IN (SELECT value FROM json_each(?))`,
            JSON.stringify(of.map((doc) => shelf.ref[doc])),
          )
          .map(({ id, text }) => [id, text]),
      );
    const units = texts('memory_units', 'content', docs.filter(isUnit));
    const turns = texts(
      'memory_turns',
      'text',
      docs.filter((doc) => !isUnit(doc)),
    );
    const keys = new Map<number, string>();
    for (const doc of docs) {
      const text = (isUnit(doc) ? units : turns).get(shelf.ref[doc] ?? 0);
      if (text !== undefined) keys.set(doc, vectorKey(text));
    }
    const stored = embedder.stored([...new Set(keys.values())]);
    const vectors = new Map<number, Float32Array>();
    for (const [doc, key] of keys) {
      const vector = stored.get(key);
      if (vector) vectors.set(doc, vector);
    }
    return vectors;
  }

  /** Reads some of what is not there yet. Returns whether there may be more. */
  #readSome(shelf: Shelf, sketch: Sketch): boolean {
    const end = Math.min(shelf.count, sketch.seen + AT_ONCE);
    const docs: number[] = [];
    for (let doc = sketch.seen; doc < end; doc += 1)
      if (((shelf.traits[doc] ?? 0) & TRAIT.dropped) === 0) docs.push(doc);
    const isNew = docs.length > 0;
    if (!isNew && sketch.lookedAt !== this.#stored) {
      docs.push(...sketch.missing.splice(0, AT_ONCE));
      if (sketch.missing.length === 0) sketch.lookedAt = this.#stored;
    }
    const vectors = docs.length === 0 ? new Map<number, Float32Array>() : this.vectors(shelf, docs);
    for (const doc of docs) {
      const vector = vectors.get(doc);
      if (vector) sketch.put(doc, shelf.ref[doc] ?? 0, vector);
      else sketch.missing.push(doc);
    }
    sketch.seen = Math.max(sketch.seen, end);
    return sketch.seen < shelf.count || (sketch.missing.length > 0 && sketch.lookedAt !== this.#stored);
  }

  #readLater(shelf: Shelf): void {
    this.#waiting.add(shelf);
    this.#cancel ??= this.#deps.clock.after(PAUSE_MS, () => {
      this.#cancel = null;
      const [next] = this.#waiting;
      if (!next) return;
      this.#waiting.delete(next);
      const sketch = this.#sketches.get(next);
      if (sketch?.model === this.#deps.embedder.id) if (this.#readSome(next, sketch)) this.#waiting.add(next);
      const [other] = this.#waiting;
      if (other) this.#readLater(other);
    });
  }
}

function bitsIn(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return (((bits + (bits >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
}
