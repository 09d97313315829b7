import { vectorBytes, vectorOf } from '../platform/vectors.ts';
import type { Database } from './database.ts';

/** Rows that one statement deletes, so that no turn waits for it. */
const SLICE = 500;

/** Vectors by model and key of their text. */
export class VectorStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  get(model: string, keys: readonly string[]): Map<string, Float32Array> {
    const rows = this.#database.all<{ key: string; vector: Uint8Array }>(
      'SELECT key, vector FROM vectors WHERE model = ? AND key IN (SELECT value FROM json_each(?))',
      model,
      JSON.stringify(keys),
    );
    return new Map(rows.map(({ key, vector }) => [key, vectorOf(vector)]));
  }

  /** Which of the keys have a vector of this size; of any size when it is null. */
  known(model: string, keys: readonly string[], size: number | null): Set<string> {
    const rows = this.#database.all<{ key: string }>(
      'SELECT key FROM vectors WHERE model = ? AND key IN (SELECT value FROM json_each(?)) AND (? IS NULL OR length(vector) = ?)',
      model,
      JSON.stringify(keys),
      size,
      size === null ? null : size * 4,
    );
    return new Set(rows.map(({ key }) => key));
  }

  put(model: string, vectors: ReadonlyMap<string, Float32Array>, nowMs: number): void {
    this.#database.tx(() => {
      for (const [key, vector] of vectors)
        this.#database.run(
          'INSERT INTO vectors (model, key, vector, at) VALUES (?, ?, ?, ?) ON CONFLICT (key, model) DO UPDATE SET vector = excluded.vector, at = excluded.at',
          model,
          key,
          vectorBytes(vector),
          nowMs,
        );
    });
  }

  /** Size of the newest vector of a model; null when there is none. */
  sizeOf(model: string): number | null {
    const row = this.#database.get<{ bytes: number }>(
      'SELECT length(vector) AS bytes FROM vectors WHERE model = ? ORDER BY id DESC LIMIT 1',
      model,
    );
    return row === null ? null : row.bytes / 4;
  }

  /** Deletes the vectors of these texts, under every model. Returns how many. */
  drop(keys: readonly string[]): number {
    return this.#database.run(
      'DELETE FROM vectors WHERE key IN (SELECT value FROM json_each(?))',
      JSON.stringify(keys),
    );
  }

  /** Deletes some of the vectors that other models made; true while there may be more. */
  dropOthers(model: string): boolean {
    const others = this.#database.all<{ model: string }>(
      'SELECT DISTINCT model FROM vectors WHERE model <> ?',
      model,
    );
    for (const other of others)
      this.#database.run(
        `DELETE FROM vectors WHERE id IN (SELECT id FROM vectors WHERE model = ? LIMIT ${SLICE})`,
        other.model,
      );
    return others.length > 0;
  }

  /** Looks through one slice of a model's vectors made before a time, and deletes those that are in no use. Returns where to go on. */
  prune(model: string, inUse: (key: string) => boolean, beforeMs: number, after: number): number | null {
    const rows = this.#database.all<{ id: number; key: string }>(
      `SELECT id, key FROM vectors WHERE id > ? AND model = ? AND at < ? ORDER BY id LIMIT ${SLICE}`,
      after,
      model,
      beforeMs,
    );
    const gone = rows.filter(({ key }) => !inUse(key)).map(({ key }) => key);
    if (gone.length > 0) this.drop(gone);
    return rows.length < SLICE ? null : (rows.at(-1)?.id ?? null);
  }
}
