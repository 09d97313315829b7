import type { Logger } from '../platform/logger.ts';
import { redact } from '../platform/redact.ts';
import { estimateTokens } from '../platform/tokens.ts';
import { embeddedPart, vectorKey } from '../platform/vectors.ts';
import type { Clock, EmbeddingSource } from '../ports.ts';
import type { VectorStore } from '../store/vector-store.ts';
import { EmbeddingRefusal, isFinal } from './embed-call.ts';

/** The endpoint as the backlog uses it; another one may take its place at any moment. */
export interface Endpoint {
  /** What its vectors are kept under. */
  readonly id: string;
  /** Size of its vectors; null before the first. */
  readonly size: number | null;
  /** False while it is left alone. */
  readonly isReady: boolean;
  /** Vectors of texts, null for those that have none. Rejects when there is no answer. */
  call(texts: readonly string[]): Promise<(Float32Array | null)[]>;
  /** A vector that was made for a question. */
  recent(key: string): Float32Array | undefined;
}

export interface BacklogDeps {
  store: VectorStore;
  clock: Clock;
  log: Logger;
  endpoint: () => Endpoint | null;
  onStored: (keys: readonly string[]) => void;
  /** A call came to nothing. */
  failed: (error: unknown) => void;
}

const MOST_TEXTS = 64;
/** Of one request: more takes a small machine too long. */
const MOST_TOKENS = 16_000;
/** Numbers in one answer: reading more would hold up a turn. */
const MOST_NUMBERS = 64 * 1024;
/** Texts that wait in memory; what comes beyond is found by the next sweep. */
const MOST_WAITING = 5000;
const SWEEP_EVERY_MS = 6 * 3600_000;
/** A vector may be made before its text is stored. */
const UNUSED_MS = 24 * 3600_000;
/** A text of so many characters is not refused for its length. */
const SHORT = 250;
/** So many texts refused one after the other are the endpoint's fault and not theirs. */
const MOST_REFUSED = 3;

interface Sweep {
  sources: EmbeddingSource[];
  after: number;
  inUse: Set<string>;
  /** Row up to which unused vectors have been looked for. */
  pruned: number;
}

/** Texts that are to have vectors: those that came up, and, sweep by sweep, all that the sources name. */
export class EmbedBacklog {
  readonly #deps: BacklogDeps;
  readonly #waiting = new Map<string, string>();
  /** Texts that the endpoint refuses by themselves. */
  readonly #refused = new Set<string>();
  readonly #sources = new Set<EmbeddingSource>();
  #refusedInRow = 0;
  #sweep: Sweep | null = null;
  #overflowed = false;
  #running = false;
  #working: Promise<void> | null = null;
  #cancelSweep: () => void = () => {};

  constructor(deps: BacklogDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#waiting.size;
  }

  start(): void {
    this.#running = true;
    this.sweep();
  }

  async stop(): Promise<void> {
    this.#running = false;
    this.#cancelSweep();
    await this.#working;
  }

  /** Another endpoint: what the last one refused says nothing of it. */
  restart(): void {
    this.#waiting.clear();
    this.#refused.clear();
    this.#sweep = null;
    this.sweep();
  }

  serve(source: EmbeddingSource): () => void {
    this.#sources.add(source);
    this.sweep();
    return () => {
      this.#sources.delete(source);
    };
  }

  add(texts: readonly string[]): void {
    for (const text of texts) {
      const part = embeddedPart(text);
      if (part === '') continue;
      const key = vectorKey(part);
      this.#sweep?.inUse.add(key);
      if (this.#waiting.size >= MOST_WAITING) this.#overflowed = true;
      else if (!this.#refused.has(key)) this.#waiting.set(key, part);
    }
    this.wake();
  }

  drop(keys: readonly string[]): void {
    for (const key of keys) {
      this.#waiting.delete(key);
      this.#sweep?.inUse.delete(key);
    }
  }

  isRefused(key: string): boolean {
    return this.#refused.has(key);
  }

  /** Looks through all texts: those without a vector get one, and vectors without a text go. */
  sweep(): void {
    if (!this.#running || this.#deps.endpoint() === null) return;
    this.#cancelSweep();
    this.#overflowed = false;
    this.#sweep = { sources: [...this.#sources], after: 0, inUse: new Set(this.#waiting.keys()), pruned: 0 };
    this.wake();
  }

  wake(): void {
    if (this.#working !== null || !this.#hasWork()) return;
    this.#working = this.#work()
      .catch((error: unknown) => this.#deps.failed(error))
      .finally(() => {
        this.#working = null;
        this.wake();
      });
  }

  #hasWork(): boolean {
    const isReady = this.#deps.endpoint()?.isReady === true;
    return this.#running && isReady && (this.#waiting.size > 0 || this.#sweep !== null);
  }

  async #work(): Promise<void> {
    while (this.#hasWork()) {
      const endpoint = this.#deps.endpoint();
      if (endpoint === null) return;
      if (this.#waiting.size > 0) await this.#embedSome(endpoint);
      else if (this.#sweep !== null) this.#sweepOn(this.#sweep, endpoint);
      await new Promise<void>((resolve) => setImmediate(resolve));
    }
  }

  /** One request's worth of what waits. */
  async #embedSome(endpoint: Endpoint): Promise<void> {
    const { store, clock, onStored } = this.#deps;
    const { id, size } = endpoint;
    const most = Math.min(MOST_TEXTS, Math.max(8, Math.floor(MOST_NUMBERS / (size ?? 1))));
    const first = [...this.#waiting.keys()].slice(0, most);
    for (const key of store.known(id, first, size)) this.#waiting.delete(key);
    const batch: [key: string, text: string][] = [];
    const made = new Map<string, Float32Array>();
    let tokens = 0;
    for (const key of first) {
      const text = this.#waiting.get(key);
      if (text === undefined) continue;
      const recent = endpoint.recent(key);
      if (recent) {
        made.set(key, recent);
        continue;
      }
      tokens += estimateTokens(text);
      if (batch.length > 0 && tokens > MOST_TOKENS) break;
      batch.push([key, text]);
    }
    if (batch.length > 0) await this.#embed(endpoint, batch, made);
    if (this.#deps.endpoint()?.id !== id) return;
    // What was dropped meanwhile is to have no vector.
    for (const key of made.keys()) if (!this.#waiting.delete(key)) made.delete(key);
    for (const [key] of batch) if (this.#refused.has(key)) this.#waiting.delete(key);
    if (made.size === 0) return;
    store.put(id, made, clock.now());
    onStored([...made.keys()]);
  }

  /** A batch that is refused is tried in halves, so that one text does not keep the others from their vectors. */
  async #embed(
    endpoint: Endpoint,
    batch: readonly (readonly [key: string, text: string])[],
    made: Map<string, Float32Array>,
  ): Promise<void> {
    try {
      const vectors = await endpoint.call(batch.map(([, text]) => redact(text).text));
      this.#refusedInRow = 0;
      for (const [at, [key]] of batch.entries()) {
        const vector = vectors[at];
        if (vector) made.set(key, vector);
        else this.#refused.add(key);
      }
    } catch (error) {
      const [first] = batch;
      if (!first || !(error instanceof EmbeddingRefusal) || isFinal(error) || !isAboutTexts(error))
        throw error;
      if (batch.length > 1) {
        const half = Math.ceil(batch.length / 2);
        await this.#embed(endpoint, batch.slice(0, half), made);
        await this.#embed(endpoint, batch.slice(half), made);
        return;
      }
      const [key, text] = first;
      if (text.length > SHORT) return this.#embed(endpoint, [[key, text.slice(0, text.length / 4)]], made);
      this.#refusedInRow += 1;
      if (this.#refusedInRow >= MOST_REFUSED) throw error;
      this.#refused.add(key);
    }
  }

  #sweepOn(sweep: Sweep, endpoint: Endpoint): void {
    const { store, clock } = this.#deps;
    const { id, size } = endpoint;
    const [source] = sweep.sources;
    if (source) {
      const { texts, next } = source(sweep.after);
      const parts = new Map(texts.map((text) => [vectorKey(text), embeddedPart(text)]));
      for (const key of parts.keys()) sweep.inUse.add(key);
      for (const key of store.known(id, [...parts.keys()], size)) parts.delete(key);
      for (const [key, part] of parts)
        if (part !== '' && !this.#refused.has(key)) this.#waiting.set(key, part);
      sweep.after = next ?? 0;
      if (next === null) sweep.sources.shift();
      return;
    }
    if (store.dropOthers(id)) return;
    const unusedSince = clock.now() - UNUSED_MS;
    const next = store.prune(id, (key) => sweep.inUse.has(key), unusedSince, sweep.pruned);
    if (next !== null) {
      sweep.pruned = next;
      return;
    }
    this.#sweep = null;
    if (this.#overflowed) this.sweep();
    else this.#cancelSweep = clock.after(SWEEP_EVERY_MS, () => this.sweep());
  }
}

function isAboutTexts({ httpStatus: status }: EmbeddingRefusal): boolean {
  return status === 200 || status === 400 || status === 413 || status === 422;
}
