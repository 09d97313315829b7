import { eachPosting, type Posting } from './codec.ts';
import { countsOf, type IndexStore, META_WORDS, type ScopeState } from './store.ts';
import { TRAIT } from './traits.ts';

const NONE = -1;
const SMALLEST = 256;

/** Documents that have a term. */
export interface PostingList {
  count: number;
  /** In ascending order. */
  each: (visit: (doc: number, times: number) => void) => void;
}

/**
 * What is known of the documents of one scope, held in memory: about 24 bytes a document. Their words stay in the
 * database, but for those of the newest few. Follows the database when asked to.
 */
export class Shelf {
  readonly #store: IndexStore;
  readonly scope: number;
  #state: ScopeState = { docs: 0, sealed: 0, sealed_stamp: 0, tail_stamp: 0 };
  /** Terms of the documents that are not sealed. */
  #tail = new Map<string, Posting[]>();
  #conversations = new Map<number, number>();
  /** Last document of each conversation. */
  #last: number[] = [];
  #lengths = 0;

  /** Documents, those out of use too: numbers below it are valid. */
  count = 0;
  /** Documents in use. */
  live = 0;
  ref = new Uint32Array(SMALLEST);
  /** Conversation, numbered from 0 on this shelf; -1 for none. */
  session = new Int32Array(SMALLEST);
  /** Document before it in its conversation; -1 for none. */
  previous = new Int32Array(SMALLEST);
  next = new Int32Array(SMALLEST);
  day = new Uint16Array(SMALLEST);
  /** Terms, repeated ones too. */
  length = new Uint16Array(SMALLEST);
  /** Bits of TRAIT. */
  traits = new Uint8Array(SMALLEST);

  constructor(store: IndexStore, scope: number) {
    this.#store = store;
    this.scope = scope;
  }

  get sessions(): number {
    return this.#last.length;
  }

  get averageLength(): number {
    return this.live === 0 ? 1 : Math.max(1, this.#lengths / this.live);
  }

  /** Takes over what the database has now. Cheap when little has changed. */
  refresh(): void {
    const state = this.#store.state(this.scope);
    if (!state) {
      this.#clear();
      return;
    }
    const before = this.#state;
    const isSame = state.sealed_stamp === before.sealed_stamp && state.sealed >= before.sealed;
    if (isSame && state.sealed === before.sealed && state.tail_stamp === before.tail_stamp) return;
    if (isSame) this.#cutTo(before.sealed);
    else this.#clear();
    this.#readSealed(state.sealed);
    this.#readTail(state.sealed);
    this.#state = state;
  }

  /** Documents that have the term. */
  find(term: string): PostingList {
    const blocks = this.#store.postings(this.scope, term);
    const tail = this.#tail.get(term) ?? [];
    return {
      count: blocks.reduce((sum, block) => sum + block.count, tail.length),
      each: (visit) => {
        for (const { first, data } of blocks) eachPosting(first, data, visit);
        for (const { doc, times } of tail) visit(doc, times);
      },
    };
  }

  #readSealed(sealed: number): void {
    const block = this.#store.blockOf(this.count);
    let doc = block.first;
    for (const words of this.#store.meta(this.scope, block.number))
      for (let at = 0; at < words.length && doc < sealed; at += META_WORDS) {
        if (doc >= this.count) this.#put(words, at);
        doc += 1;
      }
  }

  #readTail(sealed: number): void {
    this.#tail = new Map();
    for (const { doc, meta, terms } of this.#store.tail(this.scope, sealed)) {
      // Numbers that were taken out before they were sealed may be missing in an index that was damaged.
      if (doc !== this.count) continue;
      this.#put(meta, 0);
      for (const [term, times] of countsOf(terms)) {
        const list = this.#tail.get(term);
        if (list) list.push({ doc, times });
        else this.#tail.set(term, [{ doc, times }]);
      }
    }
  }

  #put(words: Int32Array, at: number): void {
    const doc = this.count;
    if (doc === this.ref.length) this.#grow();
    const packed = words[at + 2] ?? 0;
    const traits = words[at + 3] ?? 0;
    this.ref[doc] = words[at] ?? 0;
    this.day[doc] = packed >>> 16;
    this.length[doc] = packed & 0xffff;
    this.traits[doc] = traits;
    this.session[doc] = NONE;
    this.previous[doc] = NONE;
    this.next[doc] = NONE;
    this.count += 1;
    if (traits & TRAIT.dropped) return;
    this.live += 1;
    this.#lengths += packed & 0xffff;
    const conversation = words[at + 1] ?? 0;
    if (conversation !== 0) this.#link(doc, conversation);
  }

  /** Behind the one said before it, which nearly always is the last; one that was brought back may belong further up. */
  #link(doc: number, conversation: number): void {
    let session = this.#conversations.get(conversation);
    if (session === undefined) {
      session = this.#last.length;
      this.#conversations.set(conversation, session);
      this.#last.push(NONE);
    }
    this.session[doc] = session;
    let before = this.#last[session] ?? NONE;
    let after = NONE;
    while (before !== NONE && (this.ref[before] ?? 0) > (this.ref[doc] ?? 0)) {
      after = before;
      before = this.previous[before] ?? NONE;
    }
    this.previous[doc] = before;
    this.next[doc] = after;
    if (before !== NONE) this.next[before] = doc;
    if (after === NONE) this.#last[session] = doc;
    else this.previous[after] = doc;
  }

  #cutTo(count: number): void {
    while (this.count > count) {
      this.count -= 1;
      const doc = this.count;
      if (((this.traits[doc] ?? 0) & TRAIT.dropped) !== 0) continue;
      this.live -= 1;
      this.#lengths -= this.length[doc] ?? 0;
      const session = this.session[doc] ?? NONE;
      if (session === NONE) continue;
      const before = this.previous[doc] ?? NONE;
      const after = this.next[doc] ?? NONE;
      if (before !== NONE) this.next[before] = after;
      if (after !== NONE) this.previous[after] = before;
      else this.#last[session] = before;
    }
  }

  #clear(): void {
    this.#state = { docs: 0, sealed: 0, sealed_stamp: 0, tail_stamp: 0 };
    this.#tail = new Map();
    this.#conversations = new Map();
    this.#last = [];
    this.#lengths = 0;
    this.count = 0;
    this.live = 0;
  }

  #grow(): void {
    const size = this.ref.length * 2;
    const grown = <T extends Uint32Array | Int32Array | Uint16Array | Uint8Array>(from: T, to: T): T => {
      to.set(from);
      return to;
    };
    this.ref = grown(this.ref, new Uint32Array(size));
    this.session = grown(this.session, new Int32Array(size));
    this.previous = grown(this.previous, new Int32Array(size));
    this.next = grown(this.next, new Int32Array(size));
    this.day = grown(this.day, new Uint16Array(size));
    this.length = grown(this.length, new Uint16Array(size));
    this.traits = grown(this.traits, new Uint8Array(size));
  }
}
