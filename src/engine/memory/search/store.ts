import { randomInt } from 'node:crypto';
import type { Database } from '../../store/database.ts';
import { eachPosting, encodePostings, type Posting } from './codec.ts';
import { TRAIT } from './traits.ts';

/** A turn or a unit, by its row. */
export interface DocRef {
  type: 'turn' | 'unit';
  id: number;
}

/** A document as it is stored. */
export interface IndexedDoc {
  ref: DocRef;
  /** 32-bit number of its conversation; 0 for what is in none. */
  session: number;
  /** Days since 1970 on which it was said. */
  day: number;
  /** Bits of TRAIT. */
  traits: number;
  terms: readonly string[];
}

/**
 * How far the index of a scope has come. `sealed_stamp` changes when a sealed document is taken out, `tail_stamp` with
 * every change of later ones; no stamp comes back.
 */
export interface ScopeState {
  /** Documents, dropped ones too; the next one's number. */
  docs: number;
  /** Documents whose terms stand in the posting lists; later ones are read one by one. */
  sealed: number;
  sealed_stamp: number;
  tail_stamp: number;
}

/** Four 32-bit numbers a document: its row, its conversation, day and length in 16 bits each, traits. */
export const META_WORDS = 4;
const META_BYTES = META_WORDS * 4;
/** Documents in one block of metadata. */
const META_BLOCK = 1024;
/** A block of a posting list grows up to this size. */
const POSTING_BLOCK_BYTES = 6000;
/** Documents that are read one by one until they are sealed. */
const TAIL_DOCS = 64;
const MOST_LENGTH = 0xffff;

/** A block of a posting list. */
export interface PostingBlock {
  first: number;
  count: number;
  data: Uint8Array;
}

/** The document that nothing has been sealed of yet. */
export interface TailDoc {
  doc: number;
  meta: Int32Array;
  terms: string;
}

/**
 * One generation of the index in the database: posting lists by scope and term, and what is known of each document.
 * Writes belong to the caller's transaction.
 */
export class IndexStore {
  readonly #database: Database;
  readonly generation: number;

  constructor(database: Database, generation: number) {
    this.#database = database;
    this.generation = generation;
  }

  state(scope: number): ScopeState | null {
    return this.#database.get<ScopeState>(
      'SELECT docs, sealed, sealed_stamp, tail_stamp FROM memory_index_scopes WHERE generation = ? AND scope = ?',
      this.generation,
      scope,
    );
  }

  /** Adds documents of one scope; one that is there already is replaced. */
  add(scope: number, docs: readonly IndexedDoc[]): void {
    for (const { ref } of docs) this.drop(ref);
    const state = this.state(scope) ?? { docs: 0, sealed: 0, sealed_stamp: stamp(), tail_stamp: 0 };
    let next = state.docs;
    for (const doc of docs) {
      this.#database.run(
        'INSERT INTO memory_docs (generation, scope, doc, type, ref, meta, terms) VALUES (?, ?, ?, ?, ?, ?, ?)',
        this.generation,
        scope,
        next,
        doc.ref.type,
        doc.ref.id,
        metaOf(doc),
        doc.terms.join(' '),
      );
      next += 1;
    }
    this.#keep(scope, { ...state, docs: next, tail_stamp: stamp() });
    if (next - state.sealed >= TAIL_DOCS) this.seal(scope);
  }

  /** Takes a document out, with every trace of its words. Returns whether it was there. */
  drop(ref: DocRef): boolean {
    const row = this.#database.get<{ scope: number; doc: number; terms: string }>(
      // Left alone, SQLite would look through the whole generation.
      `SELECT scope, doc, terms FROM memory_docs INDEXED BY memory_docs_by_ref
       WHERE generation = ? AND type = ? AND ref = ?`,
      this.generation,
      ref.type,
      ref.id,
    );
    if (!row) return false;
    const { scope, doc } = row;
    const state = this.state(scope);
    if (!state) return false;
    if (doc < state.sealed) {
      for (const term of new Set(row.terms.split(' '))) this.#dropPosting(scope, term, doc);
      this.#markDropped(scope, doc);
      this.#database.run(
        'DELETE FROM memory_docs WHERE generation = ? AND scope = ? AND doc = ?',
        this.generation,
        scope,
        doc,
      );
      this.#keep(scope, { ...state, sealed_stamp: stamp() });
      return true;
    }
    // Its number stays taken: what was counted after it is not counted anew.
    this.#database.run(
      `UPDATE memory_docs SET ref = NULL, meta = ?, terms = '' WHERE generation = ? AND scope = ? AND doc = ?`,
      droppedMeta(),
      this.generation,
      scope,
      doc,
    );
    this.#keep(scope, { ...state, tail_stamp: stamp() });
    return true;
  }

  /** Moves what is read one by one into the posting lists. */
  seal(scope: number): void {
    const state = this.state(scope);
    if (!state || state.sealed === state.docs) return;
    const tail = this.tail(scope, state.sealed);
    const byTerm = new Map<string, Posting[]>();
    for (const { doc, terms } of tail)
      for (const [term, times] of countsOf(terms)) {
        const list = byTerm.get(term);
        if (list) list.push({ doc, times });
        else byTerm.set(term, [{ doc, times }]);
      }
    for (const [term, postings] of byTerm) this.#append(scope, term, postings);
    this.#appendMeta(scope, state.sealed, tail);
    this.#database.run(
      'DELETE FROM memory_docs WHERE generation = ? AND scope = ? AND ref IS NULL',
      this.generation,
      scope,
    );
    this.#keep(scope, { ...state, sealed: state.docs, tail_stamp: stamp() });
  }

  /** Documents from number `from` on, in order. */
  tail(scope: number, from: number): TailDoc[] {
    return this.#database
      .all<{ doc: number; meta: Uint8Array; terms: string }>(
        'SELECT doc, meta, terms FROM memory_docs WHERE generation = ? AND scope = ? AND doc >= ? ORDER BY doc',
        this.generation,
        scope,
        from,
      )
      .map(({ doc, meta, terms }) => ({ doc, meta: asWords(meta), terms }));
  }

  /** The block of metadata that a document is in, and the document that it begins with. */
  blockOf(doc: number): { number: number; first: number } {
    const number = Math.floor(doc / META_BLOCK);
    return { number, first: number * META_BLOCK };
  }

  /** META_WORDS numbers for each sealed document, block by block from `block` on. */
  meta(scope: number, block: number): Int32Array[] {
    return this.#database
      .all<{ data: Uint8Array }>(
        'SELECT data FROM memory_doc_meta WHERE generation = ? AND scope = ? AND block >= ? ORDER BY block',
        this.generation,
        scope,
        block,
      )
      .map(({ data }) => asWords(data));
  }

  postings(scope: number, term: string): PostingBlock[] {
    return this.#database.all<PostingBlock>(
      'SELECT first, count, data FROM memory_postings WHERE generation = ? AND scope = ? AND term = ? ORDER BY first',
      this.generation,
      scope,
      term,
    );
  }

  #append(scope: number, term: string, postings: readonly Posting[]): void {
    const last = this.#database.get<PostingBlock>(
      'SELECT first, count, data FROM memory_postings WHERE generation = ? AND scope = ? AND term = ? ORDER BY first DESC LIMIT 1',
      this.generation,
      scope,
      term,
    );
    if (!last || last.data.length >= POSTING_BLOCK_BYTES) {
      this.#putBlock(scope, term, postings[0]?.doc ?? 0, postings);
      return;
    }
    const all: Posting[] = [];
    eachPosting(last.first, last.data, (doc, times) => all.push({ doc, times }));
    this.#putBlock(scope, term, last.first, [...all, ...postings]);
  }

  #putBlock(scope: number, term: string, first: number, postings: readonly Posting[]): void {
    this.#database.run(
      `INSERT INTO memory_postings (generation, scope, term, first, count, data) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET count = excluded.count, data = excluded.data`,
      this.generation,
      scope,
      term,
      first,
      postings.length,
      encodePostings(first, postings),
    );
  }

  #dropPosting(scope: number, term: string, doc: number): void {
    const block = this.#database.get<PostingBlock>(
      'SELECT first, count, data FROM memory_postings WHERE generation = ? AND scope = ? AND term = ? AND first <= ? ORDER BY first DESC LIMIT 1',
      this.generation,
      scope,
      term,
      doc,
    );
    if (!block) return;
    const left: Posting[] = [];
    eachPosting(block.first, block.data, (other, times) => {
      if (other !== doc) left.push({ doc: other, times });
    });
    // Under its old number, lest the order of blocks change.
    if (left.length > 0) this.#putBlock(scope, term, block.first, left);
    else
      this.#database.run(
        'DELETE FROM memory_postings WHERE generation = ? AND scope = ? AND term = ? AND first = ?',
        this.generation,
        scope,
        term,
        block.first,
      );
  }

  #appendMeta(scope: number, sealed: number, tail: readonly TailDoc[]): void {
    for (let at = 0; at < tail.length; ) {
      const number = sealed + at;
      const block = Math.floor(number / META_BLOCK);
      const before = this.#metaBlock(scope, block);
      const room = META_BLOCK - (number % META_BLOCK);
      const part = tail.slice(at, at + room);
      const data = new Uint8Array((number % META_BLOCK) * META_BYTES + part.length * META_BYTES);
      if (before) data.set(before);
      part.forEach(({ meta }, index) => {
        data.set(bytesOf(meta), ((number % META_BLOCK) + index) * META_BYTES);
      });
      this.#putMetaBlock(scope, block, data);
      at += part.length;
    }
  }

  #markDropped(scope: number, doc: number): void {
    const block = Math.floor(doc / META_BLOCK);
    const data = this.#metaBlock(scope, block);
    if (!data) return;
    const changed = Uint8Array.from(data);
    changed.set(droppedMeta(), (doc % META_BLOCK) * META_BYTES);
    this.#putMetaBlock(scope, block, changed);
  }

  #metaBlock(scope: number, block: number): Uint8Array | null {
    return (
      this.#database.get<{ data: Uint8Array }>(
        'SELECT data FROM memory_doc_meta WHERE generation = ? AND scope = ? AND block = ?',
        this.generation,
        scope,
        block,
      )?.data ?? null
    );
  }

  #putMetaBlock(scope: number, block: number, data: Uint8Array): void {
    this.#database.run(
      `INSERT INTO memory_doc_meta (generation, scope, block, data) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET data = excluded.data`,
      this.generation,
      scope,
      block,
      data,
    );
  }

  #keep(scope: number, state: ScopeState): void {
    this.#database.run(
      `INSERT INTO memory_index_scopes (generation, scope, docs, sealed, sealed_stamp, tail_stamp)
       VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET docs = excluded.docs, sealed = excluded.sealed,
         sealed_stamp = excluded.sealed_stamp, tail_stamp = excluded.tail_stamp`,
      this.generation,
      scope,
      state.docs,
      state.sealed,
      state.sealed_stamp,
      state.tail_stamp,
    );
  }
}

/** How often each term stands in the terms of a document. */
export function countsOf(terms: string): Map<string, number> {
  const counts = new Map<string, number>();
  if (terms !== '') for (const term of terms.split(' ')) counts.set(term, (counts.get(term) ?? 0) + 1);
  return counts;
}

function stamp(): number {
  return randomInt(1, 2 ** 47);
}

function metaOf({ ref, session, day, traits, terms }: IndexedDoc): Uint8Array {
  const length = Math.min(MOST_LENGTH, terms.length);
  return bytesOf(Int32Array.of(ref.id | 0, session | 0, (day << 16) | length, traits));
}

function droppedMeta(): Uint8Array {
  return bytesOf(Int32Array.of(0, 0, 0, TRAIT.dropped));
}

function bytesOf(words: Int32Array): Uint8Array {
  return new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
}

/** A copy, since what the driver gives need not be aligned. */
function asWords(bytes: Uint8Array): Int32Array {
  return new Int32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
}
