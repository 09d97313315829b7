/**
 * False for JSON with a key that ends in a backslash. V8 13.6 (Node 24) reads `{"\"":1}` as having such a key once it
 * has seen an object with one, so that random JSON cannot be compared there.
 */
export function isReadAlikeEverywhere(value: unknown): boolean {
  return !/\\\\":/.test(typeof value === 'string' ? value : JSON.stringify(value));
}
