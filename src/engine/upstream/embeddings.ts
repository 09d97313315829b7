import { AppError, messageOf } from '../../shared/errors.ts';
import type { Logger } from '../platform/logger.ts';
import { redact } from '../platform/redact.ts';
import { embeddedPart, vectorKey } from '../platform/vectors.ts';
import type { CallMeter, Clock, Embedder, EmbeddingSource, OwnCall } from '../ports.ts';
import type { Database } from '../store/database.ts';
import { VectorStore } from '../store/vector-store.ts';
import { EmbedBacklog } from './embed-backlog.ts';
import { EmbeddingRefusal, type EmbeddingTarget, embedTexts, isFinal } from './embed-call.ts';
import { retryAfterMs } from './outage.ts';
import type { Asker } from './own-call.ts';

export interface EmbeddingsDeps extends Pick<Asker, 'send' | 'meter'> {
  /** Where texts are embedded now, or why nowhere, in words for the user. Never throws. */
  target: () => EmbeddingTarget | { why: string };
  database: Database;
  clock: Clock;
  log: Logger;
}

/** Questions whose vectors stay in memory. */
const RECENT = 500;
/** Questions that may wait for the endpoint at one time. */
const MOST_QUESTIONS = 4;
const CALL_MS = 30_000;
const FIRST_REST_MS = 5000;
const LONGEST_REST_MS = 5 * 60_000;
/** After a refusal that waiting does not mend. */
const REFUSED_REST_MS = 10 * 60_000;
/** The ledger is written after the turn that a call was for. */
const ENTRY_MS = 250;

/**
 * The embeddings endpoint: vectors of questions within the time that a turn has, and of everything else in the
 * background, each text once per model. Whatever fails leaves the search by words.
 */
export class Embeddings implements Embedder {
  readonly #deps: EmbeddingsDeps;
  readonly #store: VectorStore;
  readonly #backlog: EmbedBacklog;
  #target: EmbeddingTarget | { why: string };
  #id: string | null = null;
  #size: number | null = null;
  readonly #recent = new Map<string, Float32Array>();
  readonly #asked = new Map<string, Promise<Float32Array | null>>();
  readonly #listeners = new Set<(keys: readonly string[]) => void>();
  #rest: { untilMs: number; message: string } | null = null;
  #failures = 0;
  #abort = new AbortController();
  #stopped = false;
  readonly #timers = new Set<() => void>();
  readonly #entries: OwnCall[] = [];

  constructor(deps: EmbeddingsDeps) {
    this.#deps = deps;
    this.#store = new VectorStore(deps.database);
    const call = (texts: readonly string[]) => this.#call(texts);
    const recent = (key: string) => this.#recent.get(key);
    this.#backlog = new EmbedBacklog({
      store: this.#store,
      clock: deps.clock,
      log: deps.log,
      endpoint: () =>
        this.#id === null
          ? null
          : { id: this.#id, size: this.#size, isReady: !this.#isResting(), call, recent },
      onStored: (keys) => this.#tell(keys),
      failed: (error) => this.#fail(error),
    });
    this.#target = deps.target();
    this.#aim();
  }

  get id(): string | null {
    return this.#id;
  }

  describe(): string {
    if ('why' in this.#target) return this.#target.why;
    if (this.#isResting()) return `${this.#rest?.message} Until it answers, texts are searched by words.`;
    const { model, host } = this.#target.route;
    const waiting = this.#backlog.size > 0 ? `; ${this.#backlog.size} texts wait for it` : '';
    return `Meaning is compared by ${model} at ${host}${waiting}.`;
  }

  /** Works in the background until `stop`. */
  start(): void {
    this.#backlog.start();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#abort.abort();
    for (const cancel of this.#timers) cancel();
    await Promise.all([this.#backlog.stop(), ...this.#asked.values()]);
    this.#enter();
  }

  /** The settings may name another endpoint now. What the last one made is kept until this one has made all anew. */
  configure(): void {
    const before = signOf(this.#target);
    const target = this.#deps.target();
    if (signOf(target) === before) return;
    this.#target = target;
    this.#abort.abort();
    this.#abort = new AbortController();
    this.#aim();
    this.#tell([]);
    this.#backlog.restart();
  }

  async query(text: string, waitMs: number): Promise<Float32Array | null> {
    if (this.#id === null) return null;
    const words = embeddedPart(redact(text).text);
    if (words === '') return null;
    const key = vectorKey(words);
    const known = this.#recent.get(key) ?? this.stored([key]).get(key);
    if (known) return this.#remember(key, known);
    const asked = this.#asked.get(key) ?? this.#ask(key, words);
    if (asked === null || waitMs <= 0) return null;
    return new Promise((resolve) => {
      const cancel = this.#deps.clock.after(waitMs, () => resolve(null));
      asked.then(resolve).finally(cancel);
    });
  }

  stored(keys: readonly string[]): Map<string, Float32Array> {
    if (this.#id === null || keys.length === 0) return new Map();
    try {
      const found = this.#store.get(this.#id, keys);
      for (const [key, vector] of found) if (vector.length !== this.#size) found.delete(key);
      return found;
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'stored vectors could not be read');
      return new Map();
    }
  }

  want(texts: readonly string[]): void {
    if (this.#id !== null) this.#backlog.add(texts);
  }

  drop(texts: readonly string[]): void {
    const keys = texts.map((text) => vectorKey(text));
    for (const key of keys) this.#recent.delete(key);
    this.#backlog.drop(keys);
    this.#store.drop(keys);
  }

  serve(source: EmbeddingSource): () => void {
    return this.#backlog.serve(source);
  }

  onStored(listener: (keys: readonly string[]) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  #tell(keys: readonly string[]): void {
    for (const listener of this.#listeners) listener(keys);
  }

  #aim(): void {
    this.#id = idOf(this.#target);
    this.#size = this.#id === null ? null : this.#store.sizeOf(this.#id);
    this.#recent.clear();
    this.#rest = null;
    this.#failures = 0;
  }

  #isResting(): boolean {
    return this.#rest !== null && this.#rest.untilMs > this.#deps.clock.now();
  }

  #remember(key: string, vector: Float32Array): Float32Array {
    this.#recent.delete(key);
    this.#recent.set(key, vector);
    const oldest = this.#recent.size > RECENT ? this.#recent.keys().next().value : undefined;
    if (oldest !== undefined) this.#recent.delete(oldest);
    return vector;
  }

  #ask(key: string, words: string): Promise<Float32Array | null> | null {
    const isFull = this.#asked.size >= MOST_QUESTIONS;
    if (this.#stopped || this.#isResting() || isFull || this.#backlog.isRefused(key)) return null;
    const asked = this.#call([words])
      .then(([vector]) => (vector ? this.#remember(key, vector) : null))
      .catch((error: unknown) => {
        this.#fail(error);
        return null;
      })
      .finally(() => this.#asked.delete(key));
    this.#asked.set(key, asked);
    return asked;
  }

  /** Rejects as `embedTexts`, and with `MOVED` when the endpoint is another one by now. */
  async #call(texts: readonly string[]): Promise<(Float32Array | null)[]> {
    const { send, clock } = this.#deps;
    const target = this.#target;
    const { signal } = this.#abort;
    if ('why' in target) throw MOVED;
    const late = new AbortController();
    const cancel = clock.after(CALL_MS, () => late.abort());
    try {
      const asker = { send, meter: this.#meter() };
      const vectors = await embedTexts(asker, target, texts, AbortSignal.any([signal, late.signal]));
      if (signal.aborted) throw MOVED;
      this.#settleSize(vectors.find((vector) => vector !== null)?.length ?? this.#size);
      this.#rest = null;
      this.#failures = 0;
      return vectors;
    } catch (error) {
      throw signal.aborted ? MOVED : error;
    } finally {
      cancel();
    }
  }

  /** A model of another size behind the same name: what it made before is of no use, and is made anew. */
  #settleSize(size: number | null): void {
    const isNews = this.#size !== null && size !== this.#size;
    this.#size = size;
    if (!isNews) return;
    this.#recent.clear();
    this.#tell([]);
    this.#backlog.sweep();
  }

  #meter(): CallMeter {
    const { meter } = this.#deps;
    return {
      admit: (call) => meter.admit(call),
      record: (call) => {
        this.#entries.push(call);
        this.#later(ENTRY_MS, () => this.#enter());
      },
    };
  }

  #enter(): void {
    for (const entry of this.#entries.splice(0)) this.#deps.meter.record(entry);
  }

  #fail(error: unknown): void {
    if (error === MOVED) return;
    const { clock, log } = this.#deps;
    const nowMs = clock.now();
    this.#failures += 1;
    const restMs = this.#restAfter(error, nowMs);
    this.#rest = { untilMs: nowMs + restMs, message: `Embeddings: ${messageOf(error)}` };
    log.warn({ err: error, restMs }, 'the embeddings endpoint failed; texts are searched by words');
    this.#later(restMs, () => this.#backlog.wake());
  }

  #restAfter(error: unknown, nowMs: number): number {
    const backOff = Math.min(FIRST_REST_MS * 2 ** (this.#failures - 1), LONGEST_REST_MS);
    if (error instanceof EmbeddingRefusal)
      return isFinal(error) ? REFUSED_REST_MS : Math.max(retryAfterMs(error.headers, nowMs) ?? 0, backOff);
    // The day's cap.
    return error instanceof AppError && error.code === 'CANCELLED' ? LONGEST_REST_MS : backOff;
  }

  #later(ms: number, fn: () => void): void {
    if (this.#stopped) return;
    const cancel = this.#deps.clock.after(ms, () => {
      this.#timers.delete(cancel);
      fn();
    });
    this.#timers.add(cancel);
  }
}

/** The endpoint was changed, or the engine stops: no failure. */
const MOVED = new AppError('CANCELLED', 'The embeddings endpoint has changed.');

function idOf(target: EmbeddingTarget | { why: string }): string | null {
  if ('why' in target) return null;
  const { route, dimensions } = target;
  return [route.baseUrl, route.model, ...(dimensions > 0 ? [dimensions] : [])].join(' ');
}

/** Differs for another key too: that is a new start with the vectors that are there. */
function signOf(target: EmbeddingTarget | { why: string }): string {
  return JSON.stringify('why' in target ? [target.why] : [idOf(target), target.route.apiKey]);
}
