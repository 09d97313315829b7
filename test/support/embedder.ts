import type { Embedder } from '../../src/engine/ports.ts';

/** No endpoint is set: everything is searched by words. */
export const NO_EMBEDDER: Embedder = {
  id: null,
  describe: () => 'No embeddings endpoint is set (embeddings.model): texts are searched by words.',
  query: async () => null,
  stored: () => new Map(),
  want: () => {},
  drop: () => {},
  serve: () => () => {},
  onStored: () => () => {},
};
