import type { Config } from '../../shared/config.ts';
import type { Embedder } from '../ports.ts';
import type { Database } from '../store/database.ts';
import type { RowIndex } from './index-queue.ts';

interface VectorsDeps {
  database: Database;
  embedder: Embedder;
  config: () => Config;
}

const PAGE = 200;

/** Whether memories are compared by vectors, where there is an endpoint that makes them. */
export function usesVectors({ memory }: Config): boolean {
  const { enabled, retrieval_mode: mode, use_embeddings: isOn } = memory;
  return enabled && (mode === 'embedding' || (mode === 'hybrid' && isOn));
}

/** Names all that is remembered to the embeddings endpoint. Returns the disposer. */
export function serveVectors({ database, embedder, config }: VectorsDeps): () => void {
  const page = (sql: string) => (after: number) => {
    if (!usesVectors(config())) return { texts: [], next: null };
    const rows = database.all<{ id: number; text: string }>(sql, after, PAGE);
    return {
      texts: rows.map(({ text }) => text),
      next: rows.length < PAGE ? null : (rows.at(-1)?.id ?? null),
    };
  };
  const disposers = [
    embedder.serve(
      page(
        `SELECT id, content AS text FROM memory_units WHERE id > ? AND status IN ('active', 'superseded') ORDER BY id LIMIT ?`,
      ),
    ),
    embedder.serve(
      page('SELECT id, text FROM memory_turns WHERE id > ? AND forgotten_at IS NULL ORDER BY id LIMIT ?'),
    ),
  ];
  return () => {
    for (const dispose of disposers) dispose();
  };
}

/** The index, with a vector for each text that it is given. */
export function withVectors(index: RowIndex, { embedder, config }: VectorsDeps): RowIndex {
  const want = (text: string) => {
    if (usesVectors(config())) embedder.want([text]);
  };
  return {
    indexUnit(row) {
      index.indexUnit(row);
      want(row.content);
    },
    indexTurn(row) {
      index.indexTurn(row);
      want(row.text);
    },
    drop: (ref) => index.drop(ref),
  };
}
